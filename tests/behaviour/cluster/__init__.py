"""Pilots, routers and the engines that start them."""
