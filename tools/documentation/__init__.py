"""What tools/site is made of."""
