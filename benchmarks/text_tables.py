"""The tables of text models: accuracy beside peers, and how faithful explanations are."""

import math
import statistics
from collections.abc import Sequence

from cpu_results import duration
from harness import RESULTS, read_rows

IMDB_TEST = 25_000  # reviews
FILM_MODELS = ("imdb", "imdb-best", "imdb, star ratings too (not shipped)")
WORD_LISTS = ("VADER", "AFINN")
KINDS = ("TF-IDF", "naive-Bayes", "hardmax")  # how the contestants of corpora.py are called
NOT_YET = "not measured yet"  # where nothing was measured yet
PEERS = {"LIME": "LIME", "SHAP": "SHAP (Partition)"}
FILES = ("test", "mr")  # reviews of IMDb, sentences of MR
MEANS = ("tokens", "log_loss", "calibration_error", "mr_accuracy", "mr_log_loss", "mr_undecided")
MEANS += ("seconds",)
Row = dict[str, str]


def percent(share: float, count: int) -> str:
    """A share of so many, with its 95 % interval.

    >>> percent(0.8996, 25_000)
    '90.0 ± 0.4 %'
    """
    return f"{100 * share:.1f} ± {196 * standard_error(share, count):.1f} %"


def standard_error(share: float, count: int) -> float:
    return math.sqrt(share * (1 - share) / count)


def standard_errors(ours: float, peer: float, count: int) -> float:
    """How many standard errors two accuracies are apart, as if measured on different texts.

    >>> round(standard_errors(0.8996, 0.89713, 25_000), 1)
    0.9
    """
    return (ours - peer) / math.hypot(standard_error(ours, count), standard_error(peer, count))


def table(head: str, lines: list[str]) -> str:
    """A table of Markdown; where nothing was measured, it says so.

    >>> print(table("| model | accuracy |", []))
    | model | accuracy |
    |---|---|
    | not measured yet | |
    """
    columns = head.count(" |")
    empty = f"| {NOT_YET} |{' |' * (columns - 1)}"
    return "\n".join([head, "|---" * columns + "|", *(lines or [empty])])


def imdb_line(name: str) -> tuple[str, str, str, str]:
    """For README.md: what, page, ours, peer."""
    rows = newest_models().get(name)
    if not rows:
        return f"IMDb, `{name}`", "models.md", NOT_YET, NOT_YET
    ours, peer = mean_of(rows, "accuracy"), mean_of(rows, "peer_accuracy")
    z = standard_errors(ours, peer, IMDB_TEST)
    apart = f"z = {z:.1f}" if abs(z) > 1.96 else f"not distinguishable, z = {z:.1f}"
    beside = f"{percent(peer, IMDB_TEST)} (logistic regression, as many tokens; {apart})"
    what = f"IMDb, {mean_of(rows, 'tokens'):.0f} active tokens per review"
    return what, "models.md", percent(ours, IMDB_TEST), beside


def faithfulness_line(name: str) -> tuple[str, str, str, str]:
    """For README.md: what, page, ours, peers."""
    rankings, pairs, page = newest_rankings(), newest_pairs(), "models.md#faithfulness"
    what = f"faithfulness of the {name}, 100 reviews"
    if not all((name, peer) in pairs for peer in PEERS.values()):
        return what.partition(",")[0], page, NOT_YET, NOT_YET
    fall = {method: float(rows["test"]["comprehensiveness"]) for method, rows in rankings.items()}
    beside = []
    for peer, method in PEERS.items():
        apart = better_or_worse(pairs[name, method]["test", "comprehensiveness"])
        beside.append(f"{fall[method]:.2f} ({peer}, {apart})")
    return what, page, f"{fall[name]:.2f}", ", ".join(beside)


def better_or_worse(row: Row) -> str:
    """What the interval of ours minus the peer's says of the peer.

    >>> better_or_worse({"low": "-0.0847", "high": "-0.0566"})
    'better by 0.06 to 0.08'
    >>> better_or_worse({"low": "-1", "high": "1"})
    'not distinguishable'
    """
    low, high = float(row["low"]), float(row["high"])
    if low <= 0 <= high:
        return "not distinguishable"
    least, most = sorted((abs(low), abs(high)))
    return f"{'worse' if low > 0 else 'better'} by {least:.2f} to {most:.2f}"


def newest_models() -> dict[str, list[Row]]:
    """The newest rows of each model, one for every seed."""
    newest = {(row["model"], row["seed"]): row for row in read_rows(RESULTS / "imdb.csv")}
    seeds: dict[str, list[Row]] = {}
    for (model, _), row in newest.items():
        if model in FILM_MODELS:
            seeds.setdefault(model, []).append(row)
    return seeds


def mean_of(rows: list[Row], column: str) -> float:
    return statistics.fmean(float(row[column]) for row in rows)


def model_table() -> str:
    """The models on the test split of IMDb and on single sentences, in the mean of the seeds."""
    head = "| model | active tokens per review | test accuracy | peer with as many tokens | z |"
    head += " log loss, ECE | single sentences: accuracy, log loss, undecided | training |"
    lines = [model_line(model, rows) for model, rows in newest_models().items()]
    return table(head, lines)


def model_line(model: str, rows: list[Row]) -> str:
    means = {column: mean_of(rows, column) for column in MEANS}
    calibration = f"{means['log_loss']:.3f}, {means['calibration_error']:.3f}"
    single = f"{means['mr_accuracy']:.1%}, {means['mr_log_loss']:.3f}, {means['mr_undecided']:.1%}"
    cells = [f"`{model}`", f"{means['tokens']:.1f}", on_imdb(rows), calibration, single]
    return f"| {' | '.join(cells)} | {means['seconds']:.0f} s |"


def on_imdb(rows: list[Row]) -> str:
    """Three cells: our accuracy, the peer's, and how many standard errors they are apart."""
    ours, peer = mean_of(rows, "accuracy"), mean_of(rows, "peer_accuracy")
    apart = f"{standard_errors(ours, peer, IMDB_TEST):.1f}"
    return " | ".join([percent(ours, IMDB_TEST), percent(peer, IMDB_TEST), apart])


def few_labels_table() -> str:
    """Accuracy after 100 and 300 labelled texts, in the mean of the draws."""
    newest = {
        (row["corpus"], row["texts"], row["draw"]): row
        for row in read_rows(RESULTS / "few_labels.csv")
        if row.get("naive_bayes")
    }
    draws: dict[tuple[str, str], list[Row]] = {}
    for (corpus, texts, _), row in newest.items():
        draws.setdefault((corpus, texts), []).append(row)
    head = "| corpus | labelled texts | TF-IDF | naive-Bayes weights | word vectors | hardmax |"
    head += " difference from the best peer | worst draw |"
    return table(head, [few_labels_line(*key, rows) for key, rows in draws.items()])


def few_labels_line(corpus: str, texts: str, rows: list[Row]) -> str:
    names = ("peer", "naive_bayes", "mean_vectors")
    *peers, ours = (100 * mean_of(rows, name) for name in (*names, "accuracy"))
    best = max(peers)
    name = names[peers.index(best)]
    worst = 100 * min(float(row["accuracy"]) - float(row[name]) for row in rows)
    shares = [f"{share:.1f} %" for share in (*peers, ours)]
    return f"| {' | '.join([corpus, texts, *shares, f'{ours - best:+.1f}', f'{worst:+.1f}'])} |"


def sentiment_table() -> str:
    """Both models on every corpus that they were measured on, beside word lists."""
    newest = {(row["corpus"], row["model"]): row for row in read_rows(RESULTS / "sentiment.csv")}
    ours = ("sentiment-en", "sentiment-en-best")
    heads = ["corpus", "texts"]
    for name in ours:
        heads += [f"`{name}`", "log loss, ECE"]
    corpora = dict.fromkeys(corpus for corpus, model in newest if model == ours[0])
    lines = [sentiment_line(corpus, newest, ours) for corpus in corpora]
    return table(f"| {' | '.join([*heads, *WORD_LISTS])} |", lines)


def sentiment_line(corpus: str, newest: dict[tuple[str, str], Row], ours: Sequence[str]) -> str:
    texts = int(newest[corpus, ours[0]]["texts"])
    cells = [corpus, f"{texts:,}"]
    for name in (*ours, *WORD_LISTS):
        row = newest.get((corpus, name))
        cells.append(percent(float(row["accuracy"]), texts) if row else NOT_YET)
        if row and name in ours:
            cells.append(f"{float(row['log_loss']):.3f}, {float(row['calibration_error']):.3f}")
    return f"| {' | '.join(cells)} |"


def reading_sentence() -> str:
    """What the layer that reads adds, in the same training with and without it."""
    newest = {row["texts"]: row for row in read_rows(RESULTS / "reading.csv")}
    if not newest:
        return f"{NOT_YET}: what the layer adds."
    told = {name: _gain(row) for name, row in newest.items()}
    of_all, of_modified = (int(newest[name]["judged"]) for name in ("all", "with a modifier"))
    return (
        f"On {of_all:,} held-out sentences and tweets, the layer adds to the training of"
        f" `sentiment-en`, with grammar silent in both (± a standard error),"
        f" {told['all, grammar silent']}; on the {of_modified:,} that have a modifier,"
        f" {told['with a modifier, grammar silent']}. Against a training without the layer in which"
        f" grammar may vote: {told['all']}; on those with a modifier, {told['with a modifier']}"
        f" (`python benchmarks/sentiment.py ablate DATA`)."
    )


def _gain(row: dict[str, str]) -> str:
    accuracy = f"{float(row['gain']):+.1f} ± {float(row['standard_error']):.1f} points of accuracy"
    return f"{accuracy} and {float(row['log_loss_percent']):+.1f} % of log loss"


def flips_sentence() -> str:
    """How many texts are flipped, and how long that takes."""
    rows = [row for row in read_rows(RESULTS / "flips.csv") if row["model"] in FILM_MODELS]
    if not rows:
        return f"{NOT_YET}: how many reviews are flipped."
    row = rows[-1]
    words, seconds = int(float(row["median_words"])), float(row["median_seconds"])
    return (
        f"`{row['model']}` flips {row['found']} of {row['reviews']} reviews of the IMDb test split,"
        f" half of them by at most {words} words;\n"
        f"for {row['shown_smallest']} the number is proved to be the smallest. The median time is"
        f" {seconds:.2f} s on two shared cores (`benchmarks/flips.py`)."
    )


def newest_corpora() -> dict[str, dict[str, list[Row]]]:
    """For every corpus the newest row of each peer, and ours of all seeds."""
    newest: dict[tuple[str, str, str], Row] = {}
    for row in read_rows(RESULTS / "corpora.csv"):
        kind = next((kind for kind in KINDS if row["contestant"].startswith(kind)), "")
        newest[row["corpus"], kind, row["seed"]] = row
    found: dict[str, dict[str, list[Row]]] = {}
    for (corpus, kind, _), row in sorted(newest.items()):
        found.setdefault(corpus, {}).setdefault(kind, []).append(row)
    return {corpus: kinds for corpus, kinds in found.items() if {*KINDS} <= {*kinds}}


def corpora_table() -> str:
    """The classifier as it comes on several corpora, beside its peers, in the mean of the seeds."""
    head = "| corpus | texts | classes | TF-IDF | naive-Bayes weights | hardmax |"
    head += " difference from the better peer | log loss: TF-IDF, naive-Bayes weights, hardmax |"
    head += " ECE | active tokens | training, CPU time |"
    return table(head, [corpora_line(name, kinds) for name, kinds in newest_corpora().items()])


def corpora_line(name: str, kinds: dict[str, list[Row]]) -> str:
    ours, about = kinds[KINDS[-1]], kinds[KINDS[0]][0]
    *peers, accuracy = (mean_of(kinds[kind], "accuracy") for kind in KINDS)
    cells = [
        name,
        f"{int(about['texts']):,}",
        about["classes"],
        *(f"{100 * share:.1f} %" for share in peers),
        percent(accuracy, int(about["judged"])),
        f"{100 * (accuracy - max(peers)):+.1f}",
        *(
            ", ".join(f"{mean_of(kinds[kind], column):.3f}" for kind in KINDS)
            for column in ("log_loss", "calibration_error")
        ),
        f"{mean_of(ours, 'words_that_count'):.1f}",
        f"{mean_of(ours, 'seconds'):.0f} s",
    ]
    return f"| {' | '.join(cells)} |"


def corpora_sentence() -> str:
    """How far ours is ahead of TF-IDF, and of the better peer of each corpus."""
    found = newest_corpora()
    if not found:
        return f"{NOT_YET}: other corpora."
    peers = {"TF-IDF": KINDS[:1], "the better peer of each corpus": KINDS[:-1]}
    sentences = [compared(who, kinds, [*found.items()]) for who, kinds in peers.items()]
    return "\n".join(sentences)


def compared(
    who: str, peers: tuple[str, ...], corpora: list[tuple[str, dict[str, list[Row]]]]
) -> str:
    apart, ahead = {}, 0
    for name, kinds in corpora:
        ours = kinds[KINDS[-1]]
        best = max(mean_of(kinds[kind], "accuracy") for kind in peers)
        apart[name] = 100 * (mean_of(ours, "accuracy") - best)
        least = min(mean_of(kinds[kind], "log_loss") for kind in peers)
        ahead += mean_of(ours, "log_loss") < least
    worst = min(apart, key=lambda name: apart[name])
    mean = statistics.fmean(apart.values())
    return (
        f"Compared with {who}, the accuracy differs by {mean:+.1f} points on average and by"
        f" {apart[worst]:+.1f} on the worst corpus, {worst};\nthe log loss is lower on {ahead} of"
        f" {len(apart)} corpora."
    )


def newest_rankings() -> dict[str, dict[str, Row]]:
    """The newest row of every ranking of words, for each of FILES."""
    found: dict[str, dict[str, Row]] = {}
    for row in read_rows(RESULTS / "faithfulness.csv"):
        if row["model"] in FILM_MODELS:
            found.setdefault(row["attribution"], {})[row["file"]] = row
    return found


def faithfulness_table() -> str:
    """How well each attribution ranks the words of reviews, and of sentences."""
    measures = "comprehensiveness ↑, sufficiency ↓, labels flipped, CPU time"
    head = f"| words ranked by | reviews: {measures} | sentences: {measures} |"
    lines = [
        f"| {name} | {' | '.join(faithfulness(rows[file]) for file in FILES)} |"
        for name, rows in newest_rankings().items()
    ]
    return table(head, lines)


def faithfulness(row: Row) -> str:
    fall, rest = float(row["comprehensiveness"]), float(row["sufficiency"])
    return f"{fall:.3f}, {rest:.3f}, {float(row['flips']):.0%}, {duration(float(row['ms']) / 1000)}"


def newest_pairs() -> dict[tuple[str, str], dict[tuple[str, str], Row]]:
    """Our two rankings minus each peer's, text by text: by the two, then by file and measure."""
    found: dict[tuple[str, str], dict[tuple[str, str], Row]] = {}
    for row in read_rows(RESULTS / "faithfulness_pairs.csv"):
        two = row["attribution"], row["peer"]
        if row["model"] in FILM_MODELS:
            found.setdefault(two, {})[row["file"], row["measure"]] = row
    return found


def pairs_table() -> str:
    head = "| difference | reviews: comprehensiveness, sufficiency |"
    head += " sentences: comprehensiveness, sufficiency |"
    lines = []
    for (own, peer), rows in newest_pairs().items():
        cells = []
        for file in FILES:
            measures = [rows[file, name] for name in ("comprehensiveness", "sufficiency")]
            cells.append(", ".join(map(interval, measures)))
        lines.append(f"| {own} − {peer} | {' | '.join(cells)} |")
    return table(head, lines)


def interval(row: Row) -> str:
    """A difference with its 95 % interval.

    >>> interval({"difference": "-0.0704", "low": "-0.0847", "high": "-0.0566"})
    '−0.070 (−0.085 to −0.057)'
    """
    mean, low, high = (f"{float(row[name]):+.3f}" for name in ("difference", "low", "high"))
    return f"{mean} ({low} to {high})".replace("-", "−")


def peers_table() -> str:
    """Other models that can be read."""
    head = "| model | active tokens per review | test accuracy | log loss, ECE | training |"
    rows = {row["method"]: row for row in read_rows(RESULTS / "peers.csv")}
    lines = []
    for name, row in rows.items():
        accuracy = percent(float(row["accuracy"]), IMDB_TEST)
        calibration = f"{float(row['log_loss']):.3f}, {float(row['calibration_error']):.3f}"
        training = duration(float(row["seconds"]))
        cells = [name, f"{float(row['tokens']):.0f}", accuracy, calibration, training]
        lines.append(f"| {' | '.join(cells)} |")
    return table(head, lines)
