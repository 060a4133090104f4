"""What programs see of an image or an environment."""
