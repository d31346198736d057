"""What happens on a server now, told to whoever watches."""
