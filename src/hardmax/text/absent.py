"""What a pickled explanation keeps of its model: a few kilobytes of the megabytes that it has."""

from typing import TYPE_CHECKING, Any

from hardmax._common.validation import InputError
from hardmax.text._analysis import LENGTHS

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

_KEPT = ("name", "classes", "bias", "rule", "modifiers")


class AbsentModel:
    """The name, classes and settings of a model that is somewhere else; anything else that is asked
    of it is refused."""

    def __init__(self, model: "TextModel | AbsentModel", sha256: str) -> None:
        vars(self).update({name: getattr(model, name) for name in _KEPT}, sha256=sha256)
        kept = model.metrics.keys() & {LENGTHS, "edited"}
        self.metrics = {name: model.metrics[name] for name in kept}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copying and pickling look for
            raise AttributeError(name)
        problem = f"`{name}` needs the model, which a pickled explanation leaves behind"
        raise InputError(f"{problem}: load the model and explain the text again.")
