"""Builds the model of one frame from a source and from how a person looks at it."""
