"""The exit codes of the command, and what they mean (reference.md, section 1)."""

FINE, FAILED, USAGE, BROKE, UNKNOWN, PARTED = 0, 1, 2, 3, 4, 5
OURS, DISK, INTERRUPTED = 70, 74, 130

EVERY = {
    FINE: "fine",
    USAGE: "usage, something that cannot be read, or a damaged folder",
    OURS: "an error in hush itself",
    DISK: "the disk",
    INTERRUPTED: "interrupted",
}
"""What any verb may end with. A verb may say more exactly what one of them means for it."""
