"""Loss of information and query error of a release."""
