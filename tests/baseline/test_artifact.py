"""One report comes out of the zip, or a reason; never a crash, a file on disk or a gigabyte."""

from __future__ import annotations

import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.baseline.artifact import LARGEST_REPORT, LARGEST_ZIP, Unusable, report_in
from tests.baseline.zips import claiming_size, encrypted, with_link, zipped

REPORT = b'{"status": "succeeded"}'
SOUND = zipped({"perf_report.json": REPORT})


@pytest.mark.parametrize(
    "files",
    [
        {"perf_report.json": REPORT},
        {"out/": b"", "out/PERF.JSON": REPORT, "log.txt": b"noise"},
        {"perf_report.json": b"\xef\xbb\xbf" + REPORT},
    ],
)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_only_json_file_is_the_report(files: dict[str, bytes], method: int) -> None:
    assert report_in(zipped(files, method)) == REPORT.decode()


@pytest.mark.parametrize(
    ("archive", "problem"),
    [
        (b"", "not a sound zip"),
        (b"not a zip", "not a sound zip"),
        (SOUND[:-30], "not a sound zip"),
        (b" " * (LARGEST_ZIP + 1), "is larger than"),
        (zipped({}), "holds 0 .json files"),
        (zipped({"report.txt": REPORT}), "holds 0 .json files"),
        (zipped({"report.json/": b""}), "holds 0 .json files"),
        (zipped({"a.json": REPORT, "b/c.json": REPORT}), "holds 2 .json files"),
        (zipped({f"{number}.txt": b"" for number in range(101)}), "more than 100 files"),
        (zipped({"../report.json": REPORT}), "leads out of its folder"),
        (zipped({"report.json": REPORT, "a/../../x": b""}), "leads out of its folder"),
        (zipped({"/etc/report.json": REPORT}), "leads out of its folder"),
        (zipped({"..\\report.json": REPORT}), "leads out of its folder"),
        (zipped({"C:report.json": REPORT}), "leads out of its folder"),
        (encrypted({"report.json": REPORT}), "encrypted"),
        (with_link("report.json", "/proc/self/environ"), "symbolic link"),
        (zipped({"report.json": REPORT}, zipfile.ZIP_BZIP2), "in a way that is not accepted"),
        (zipped({"report.json": REPORT}, zipfile.ZIP_LZMA), "in a way that is not accepted"),
        (zipped({"report.json": b" " * (LARGEST_REPORT + 1)}), "a report larger than"),
        (zipped({"report.json": b"\xff\xfe"}), "not UTF-8"),
    ],
)
def test_what_holds_no_single_sound_report_is_unusable(archive: bytes, problem: str) -> None:
    result = report_in(archive)
    assert isinstance(result, Unusable)
    assert problem in result.problem


def test_bomb_is_not_expanded() -> None:
    """Sixty megabytes of blanks in sixty kilobytes, first declared and then denied by the directory."""
    bomb = zipped({"report.json": b" " * 60_000_000})
    assert len(bomb) < LARGEST_ZIP
    for archive in (bomb, claiming_size(bomb, 100)):
        assert isinstance(report_in(archive), Unusable)


@given(st.data())
def test_damaged_zip_never_crashes(data: st.DataObject) -> None:
    archive = bytearray(SOUND)
    for _ in range(data.draw(st.integers(1, 4))):
        archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
    result = report_in(bytes(archive))
    assert isinstance(result, (str, Unusable))


@given(st.binary(max_size=300))
def test_noise_never_crashes(noise: bytes) -> None:
    assert isinstance(report_in(b"PK\x03\x04" + noise), Unusable)
