"""Write zips whose bytes depend on nothing but what is in them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Iterable


def stored_zip(members: Iterable[tuple[str, bytes]], executable: Collection[str] = ()) -> bytes:
    """Return a zip of files: in the order given, not compressed, with fixed dates and modes.

    members are names inside the zip with their contents; the names in executable get the run bit.
    Compression is left out because its result depends on the version of zlib.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system = 3  # Unix, whatever this runs on: the modes below count then
            mode = 0o755 if name in executable else 0o644
            info.external_attr = (0o100000 | mode) << 16
            archive.writestr(info, content)
    return buffer.getvalue()
