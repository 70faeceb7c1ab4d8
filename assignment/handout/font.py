"""Make the page's mathematics font: `python -m assignment.handout.font STIXMath-Regular.otf`.

Browsers draw MathML with a font that has a table of mathematics in it. Windows and macOS bring one,
many a Linux does not, and brackets do not stretch then. So the page carries a part of STIX Math 1.1
(SIL Open Font License; Debian's package fonts-stix has it), as `page/math.woff`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

TARGET = Path(__file__).with_name("page") / "math.woff"
NAME = "Handout Math"  # the licence keeps the old name for the whole font
COPYRIGHT, LICENCE = (0,), (13, 14)  # entries of the table `name` that have to stay
RANGES = (
    (0x20, 0x7E),
    (0xA0, 0xFF),
    (0x391, 0x3F5),  # Greek
    (0x2016, 0x2057),  # dots, primes
    (0x2061, 0x2064),  # function application and other invisible signs
    (0x2100, 0x214F),  # letters such as ℎ
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # operators
    (0x2308, 0x230B),  # floor and ceiling
    (0x27E8, 0x27E9),
    (0x1D400, 0x1D467),  # bold and italic letters
    (0x1D6A4, 0x1D71B),  # bold and italic Greek
)


def main(source: str) -> None:
    """Write the part of the font that formulas need."""
    font = TTFont(source)
    options = Options()
    options.name_IDs = [*COPYRIGHT, 1, 2, 4, 6, *LICENCE]
    options.flavor = "woff"
    options.recalc_timestamp = False
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)])
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 4, 6):
            record.string = NAME.replace(" ", "") if record.nameID == 6 else NAME
    if "CFF " in font:
        font["CFF "].cff.fontNames[0] = NAME.replace(" ", "")
    font.flavor = "woff"
    font.save(TARGET)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
