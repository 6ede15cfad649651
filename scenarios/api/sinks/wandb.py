"""wandb: files of W&B that `wandb sync` uploads, or with `online` its server."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scenarios.api.packages import required
from scenarios.api.sink import Header, Setting, SinkKind, Target


class _Offline:
    """A run of the project: offline unless `online` was said; nothing of the machine or its code is recorded."""

    def __init__(self, target: Target) -> None:
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
        self._wandb = required("wandb", "the export to W&B", "hush-sim[tracking]")
        self._target = target
        self._run: Any = None

    def begin(self, header: Header) -> None:
        mode = "online" if self._target.online else "offline"
        settings = self._wandb.Settings(
            mode=mode,
            console="off",
            silent=True,
            disable_git=True,
            disable_code=True,
            x_disable_meta=True,
            x_disable_stats=True,
            x_disable_machine_info=True,
            x_save_requirements=False,
        )
        told = {f"hush.{key}": value for key, value in header.tags.items()}
        self._run = self._wandb.init(
            project=self._target.project,
            name=header.name,
            group=header.group or None,
            dir=str(self._target.folder),
            config=dict(header.settings) | told,
            settings=settings,
            reinit="create_new",
        )

    def log(self, step: int, t: float, values: Mapping[str, float]) -> None:
        self._run.log({**values, "t": t}, step=step)

    def end(self, summary: Mapping[str, Setting], files: Sequence[Path]) -> None:
        self._run.summary.update({f"final/{key}": value for key, value in summary.items()})
        for file in files:
            shutil.copy(file, self._run.dir)
        self._run.finish()


KIND = SinkKind(
    "wandb",
    "files for `wandb sync`, which nothing uploads unless the user does, or its server with `online`",
    _Offline,
    can_be_online=True,
)
