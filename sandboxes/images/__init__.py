"""Making the images that sandboxes and the service run from."""
