"""One suite of measurements: what runs cost beside bare loops, and against a kept baseline (`python -m benchmarks`)."""
