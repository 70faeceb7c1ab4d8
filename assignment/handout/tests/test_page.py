"""Can the page be read by everybody: offline, on a phone, by ear, with weak eyes?"""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

from assignment.handout.build import PAGE

LARGEST = 1_500_000  # bytes; it comes with every clone of the starter
ENOUGH = 4.5  # contrast that WCAG 2 asks of text (level AA)
STYLE = (PAGE / "style.css").read_text(encoding="utf-8")
SCHEMES = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)  # light, dark


def ids(page: ET.Element) -> list[str]:
    """Return all ids."""
    return [element.attrib["id"] for element in page.iter() if "id" in element.attrib]


def test_one_file_without_a_net(made: tuple[bytes, bytes], page: ET.Element) -> None:
    """Is everything inside of the one file, which is not too large, and is nothing run?"""
    assert len(made[0]) < LARGEST
    assert not list(page.iter("script"))
    assert not list(page.iter("link"))
    sources = [
        e.attrib[name] for e in page.iter() for name in ("src", "srcset") if name in e.attrib
    ]
    assert sources
    assert all(source.startswith("data:") for source in sources)
    urls = re.findall(rb"url\([\"']?(.{10})", made[0])
    assert urls
    assert all(url.startswith(b"data:") for url in urls)


def test_links_lead_somewhere(page: ET.Element) -> None:
    """Does every link inside of the page have its target, and is every other one an address?"""
    links = [element.attrib["href"] for element in page.iter("a") if "href" in element.attrib]
    inside = {link.removeprefix("#") for link in links if link.startswith("#")}
    assert "main" in inside
    assert inside - set(ids(page)) == set()
    outside = [link for link in links if not link.startswith("#")]
    assert outside
    assert all(link.startswith("https://") for link in outside)


def test_structure(page: ET.Element) -> None:
    """Is the language named, and do headings and landmarks make an outline without gaps?"""
    assert page.attrib["lang"] == "en"
    assert [e.tag for e in page.iter() if e.tag in ("header", "nav", "main")] == [
        *("header", "nav", "main")
    ]
    levels = [int(e.tag[1]) for e in page.iter() if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert len(ids(page)) == len(set(ids(page)))


def test_contents_lists_all_chapters(page: ET.Element) -> None:
    """Does the table of contents have every heading of the first two levels?"""
    (contents,) = page.iter("nav")
    listed = {e.attrib["href"].removeprefix("#") for e in contents.iter("a")}
    sections = [e for e in page.iter("section") if e.attrib["class"].split()[0] != "level4"]
    assert {section.attrib["id"] for section in sections} <= listed


def test_pictures_are_described(page: ET.Element) -> None:
    """Does every picture have a text of its own that says what is seen, and a caption?"""
    pictures = list(page.iter("img"))
    assert len(pictures) == 9
    texts = [picture.attrib["alt"] for picture in pictures]
    assert all(len(text) > 60 for text in texts)
    captions = ["".join(caption.itertext()) for caption in page.iter("figcaption")]
    assert len(captions) == len(pictures)
    assert not set(texts) & set(captions)


def test_tables_have_headers(page: ET.Element) -> None:
    """Does every table say what its columns are?"""
    tables = list(page.iter("table"))
    assert len(tables) > 8
    for table in tables:
        assert [e for e in table.iter("th") if "".join(e.itertext()).strip()]


def test_wide_blocks_scroll_by_keyboard(page: ET.Element) -> None:
    """Does everything that may be wider than a phone stand in a named box that scrolls?"""
    boxes = [e for e in page.iter("div") if e.get("class") == "scroll"]
    assert all(box.get("tabindex") == "0" and box.get("aria-label") for box in boxes)
    inside = {id(e) for box in boxes for e in box.iter()}
    wide = [e for e in page.iter() if e.tag in ("pre", "table")]
    wide += [e for e in page.iter("math") if e.get("display") == "block"]
    assert wide
    loose = [e for e in wide if id(e) not in inside]
    assert ["".join(e.itertext())[:40] for e in loose] == []


def test_formulas_are_mathml(page: ET.Element, text: str) -> None:
    """Is every formula of the chapters mathematics on the page, and no dollar or macro left?"""
    assert len(list(page.iter("math"))) > 150
    assert not list(page.iter("merror"))
    hidden = {id(e) for tag in ("annotation", "code", "style") for e in page.iter(tag)}
    said = "".join(visible(page, hidden))
    assert "$" not in said
    assert "\\" not in said
    assert "<<" not in said


def visible(element: ET.Element, hidden: set[int]) -> list[str]:
    """Return the texts in an element, but for hidden ones inside."""
    parts = [element.text or ""] if id(element) not in hidden else []
    for child in element:
        parts += [] if id(element) in hidden else visible(child, hidden)
        parts.append(child.tail or "")
    return parts


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb`, as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_black_on_white() -> None:
    """Is contrast measured as WCAG does?"""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", range(2), ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["text", "muted", "link"])
@pytest.mark.parametrize("ground", ["page", "panel"])
def test_contrast(scheme: int, ink: str, ground: str) -> None:
    """Can all text be told from its ground?"""
    colours = dict(re.findall(r"--(\w+): (#\w{6})", SCHEMES[scheme]))
    assert contrast(colours[ink], colours[ground]) >= ENOUGH


def test_no_other_colours() -> None:
    """Are all colours of text and ground those that the test above measures?"""
    rules = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)
    assert re.findall(r"[^-]color: (?!var)", rules) == []
    assert set(re.findall(r"background: ([^;]+)", rules)) <= {
        *("var(--page)", "var(--panel)", "none"),
        "#ffffff",  # under the pictures
    }
