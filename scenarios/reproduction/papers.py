"""The papers whose claims are judged."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper: the name that commands know it by, and how it is cited."""

    name: str
    authors: str
    year: str
    title: str

    @property
    def cited(self) -> str:
        """The citation in a few words."""
        return f"{self.authors} {self.year}".strip()


QUESTIONS = "questions"
"""What stands among the papers for what no paper asks."""
PAPERS = {
    paper.name: paper
    for paper in (
        Paper(
            "zhang-zhu",
            "Zhang, Zhu",
            "2016",
            "Dynamic differential privacy for ADMM-based distributed classification learning",
        ),
        Paper(
            "zhang-zhu-dual",
            "Zhang, Zhu",
            "2016b",
            "A dual perturbation approach for differential private ADMM-based distributed empirical risk minimization",
        ),
        Paper(
            "zhang-khalili-liu",
            "Zhang, Khalili, Liu",
            "2018",
            "Improving the privacy and accuracy of ADMM-based distributed algorithms",
        ),
        Paper(
            "kang",
            "Kang, Liu, Wang",
            "",
            "Weighted distributed differential privacy ERM: convex and non-convex",
        ),
        Paper(
            "bellet",
            "Bellet, Guerraoui, Taziki, Tommasi",
            "2018",
            "Personalized and private peer-to-peer machine learning",
        ),
        Paper(
            QUESTIONS,
            "hush",
            "",
            "Questions that need asynchrony, churn and ledgers in one place",
        ),
    )
}
"""The papers by their names, in the order of the page."""
