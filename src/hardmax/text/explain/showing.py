"""An explanation as plain text for a terminal."""

from hardmax._format import sanitize_line
from hardmax.text.explain.account import Account
from hardmax.text.explain.ledgers import Table, ledgers_of, unknown

MOST_ROWS = 20


def plain(account: Account) -> str:
    """Label and probability, the words that count, the leaders with their shares, and how both add up."""
    head = sanitize_line(account.answer)
    tables = [_lines(table, sanitize_line(account.towards)) for table in ledgers_of(account, MOST_ROWS)]
    return "\n".join([head, *unknown(account), *(line for lines in tables for line in lines)])


def _lines(table: Table, towards: str) -> list[str]:
    rows = [(sanitize_line(row.what), sanitize_line(row.told), f"{row.part:+.3f}") for row in table.rows]
    first = max(len(table.what), *(len(what) for what, _, _ in rows))
    second = max(7, *(len(told) for _, told, _ in rows))
    title = f"  {table.what:{first}}  {table.told:>{second}}  towards {towards}"
    return [title, *(f"  {what:{first}}  {told:>{second}}  {part:>9}" for what, told, part in rows)]
