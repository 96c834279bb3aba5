"""The package speaks of arguments, the command line of options: the same error in the words of the one who reads it."""

import re

_TRANSLATIONS = [
    (r"any_metric=True", "--any-metric"),
    (r"record=LastOnly\(\)", "--record last"),
    (r"record=Every\(([\d,]+)\)", lambda found: "--record " + found[1].replace(",", "")),
    (r"arithmetic='(\w+)'", r"--arithmetic \1"),
    (r"\b(text|label)=", r"--\1"),
    (r"`(alpha|metric|layers|record|arithmetic|n|d|side|sides|span|seed|certificate)`", r"`--\1`"),
    (r"\b(force|resume)=True", r"--\1"),
    (r"`(text|label|dimension|epochs|validation(?=_fraction)|output|resume|recipe)(_fraction)?`", r"`--\1`"),
    (r"`at_most`", "`--at-most`"),
    (r"`check_theorem`", "`--check`"),
    (r"`memory_limit`", "`--memory-limit`"),
]


def in_words_of_the_command(message: str) -> str:
    """The message with options for arguments.

    >>> in_words_of_the_command("`alpha` must be positive, not 0.")
    '`--alpha` must be positive, not 0.'
    """
    for argument, option in _TRANSLATIONS:
        message = re.sub(argument, option, message)
    return message
