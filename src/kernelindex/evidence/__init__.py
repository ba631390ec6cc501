"""Signed evidence: what a runner hands over of a batch, and whether it may be believed."""
