"""People divided into groups: Mondrian here, ART and Anatomy in `art`."""
