"""What must hold of a release as a whole, whatever criteria a spec demands."""
