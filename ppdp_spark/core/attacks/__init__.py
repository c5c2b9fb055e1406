"""What somebody concludes from a release by a method of attack that works on all of its groups at once."""
