"""How a run works beside a release and takes its place: by renames, or by one manifest."""
