"""Labels, judges and languages."""
