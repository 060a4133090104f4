"""The APIs of other services, as their clients use them."""
