"""What is said on the stage: questions and answers of a small shop's engineers, and the repository they work in."""

from typing import Final

ASKED: Final = "Exporting invoices fails for customers without a VAT number. Find out why, mend it, and add a test."

REPOSITORY: Final = r'''
set -e
echo "PS1='olga@shop:\w\$ '" | tee .bashrc > .profile
mkdir -p shop/src shop/tests && cd shop
git init -q -b main
echo __pycache__ > .gitignore
git config user.name Olga && git config user.email olga@example.com
cat > AGENTS.md <<'TEXT'
# Shop
Run `python3 -m unittest` before you say that something works. Keep functions short.
TEXT
cat > README.md <<'TEXT'
# Shop
Invoices, and how they leave the house.
TEXT
cat > src/export.py <<'TEXT'
"""Invoices as rows for the bookkeeping."""


def row(invoice):
    customer = invoice["customer"]
    return [
        invoice["number"],
        customer["name"],
        customer["vat"].strip().upper(),
        f"{invoice['cents'] / 100:.2f}",
    ]


def rows(invoices):
    return [row(invoice) for invoice in invoices if invoice["cents"] > 0]
TEXT
cat > tests/test_export.py <<'TEXT'
import unittest

from src.export import rows

ACME = {"name": "Acme", "vat": " de123 "}


class Rows(unittest.TestCase):
    def test_amounts_have_two_decimals(self):
        self.assertEqual(rows([{"number": 1, "customer": ACME, "cents": 1990}]), [[1, "Acme", "DE123", "19.90"]])
TEXT
git add -A && git commit -qm "Begin" && git checkout -qb mend-export
'''

PLAN: Final = (
    "The export reads `vat` without asking whether there is one. ",
    "I look at the function first, then at who calls it.",
)

NEW_TEST: Final = """import unittest

from src.export import rows


class WithoutVat(unittest.TestCase):
    def test_a_customer_without_a_vat_number_has_an_empty_column(self):
        invoice = {"number": 2, "customer": {"name": "Mia"}, "cents": 500}
        self.assertEqual(rows([invoice]), [[2, "Mia", "", "5.00"]])
"""

FAILING_TEST: Final = "python3 -m unittest discover -s missing 2>&1 | tail -4; exit 1"

ANSWER: Final = """The export works for customers without a VAT number now.

## What was wrong

`row` called `.strip()` on `customer["vat"]`, which is **not there** for private customers:

```python
def row(invoice):
    customer = invoice["customer"]
    vat = (customer.get("vat") or "").strip().upper()
    return [invoice["number"], customer["name"], vat, f"{invoice['cents'] / 100:.2f}"]
```

| customer | before | now |
|---|---|---|
| with a number | `DE123` | `DE123` |
| with blanks only | an empty column | an empty column |
| without one | `KeyError` | an empty column |

- The test `test_a_customer_without_a_vat_number_has_an_empty_column` fails without the change.
- I left [the bookkeeping's format](https://example.com/bookkeeping) as it is: it allows empty columns.

> The nightly job of the 12th skipped 14 invoices for this reason. They are not exported yet.

Shall I write a script that exports them?
"""

LOOKED_UP: Final = "The format allows an empty third column since 2024, and both readers that I found accept it."

TICKETS: Final = "There were 41: 17 about exports, 9 about sign-in, the rest one of a kind. Four are still open."

SUMMARY: Final = (
    "Olga wanted an overview of this week's support tickets: 41, of which 17 are about exports. Four are open."
)

OTHERS: Final = (
    ("Why is the build on main red since this morning?", "A pinned image is gone. I moved to its successor."),
    ("Write the release notes for 2.14 from the merged pull requests.", "Here they are, in three parts."),
    ("Which of our endpoints have no rate limit?", "Four of 61 have none; `/export` is the one to worry about."),
    ("Translate the onboarding mails into German.", "Done. Two sentences need your eye."),
    ("Explain how sessions end when a password changes.", "All but the one that changed it end at once."),
    ("Plan the move of the images to object storage.", "In four steps, each of which can be taken back."),
    ("Make the nightly import twice as fast.", "It spends 80 % of its time in one query. An index helps."),
)

# Of the sub-agents: title, task, answer.
PARTS: Final = (
    ("The service of invoices", "Review the service of invoices.", "Two functions have no test."),
    ("The service of mails", "Review the service of mails.", "Nothing to complain about."),
    ("The service of images", "Review the service of images.", "One query is slow; an index helps."),
)

TITLES: Final = {
    ASKED[:40]: "Export of invoices without VAT",
    OTHERS[0][0][:30]: "Red build on main",
    OTHERS[1][0][:30]: "Release notes for 2.14",
    OTHERS[2][0][:30]: "Endpoints without a rate limit",
    OTHERS[3][0][:30]: "Onboarding mails in German",
    OTHERS[4][0][:30]: "How sessions end",
    OTHERS[5][0][:30]: "Images to object storage",
    OTHERS[6][0][:30]: "A faster nightly import",
    "Show every tool": "Every tool at work",
    "Draft a postmortem": "Postmortem of the 12th",
    "Summarise the support": "Support tickets of this week",
    "Check the certificates": "Certificates that run out",
    "Compare the prices": "Prices of three hosters",
    "Prepare the repository": "Preparing the shop",
    "Review the three": "Review of three services",
    "Check the backups": "Backups of last night",
}

LABELS: Final = {
    "The export works": "Mended the export, added a test",
    "A pinned image": "Moved to a new image",
    "Here they are": "Wrote the notes",
    "Four of 61": "Four endpoints found",
    "Two sentences": "Two sentences to look at",
    "All but the one": "Explained the sessions",
    "In four steps": "Proposed four steps",
    "It spends 80": "Found the slow query",
}
