"""One text: leaders and ledger, in a terminal and in HTML."""
