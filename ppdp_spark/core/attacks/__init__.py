"""What somebody concludes from a release with a method of attack that works on all of its groups at once."""
