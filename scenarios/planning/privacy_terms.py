"""What the ε of a run is stated for: its views, and the accountant that composes it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Privacy:
    """The views in which ε is stated, and the accountant that composes it."""

    views: tuple[str, ...]
    accountant: str
    shows_unreleased_model: bool
    misprinted: bool = False
    """Whether what was claimed composes as its paper prints it (E8)."""
    adaptive: bool = False
    """Whether releases may depend on earlier outputs: code of the scenario's own that has no schedule."""
    calibrated: str | None = None
    """What privacy.calibrate = "tightest" was; None where a file names an accountant, or nothing was to calibrate."""
    seen: tuple[str, ...] = ("eavesdropper", "outsider")
    """Every view that there is in this scenario."""

    @property
    def view(self) -> str:
        """The headline view."""
        return self.views[0]
