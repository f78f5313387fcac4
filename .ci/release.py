"""Build the wheel and the source archive of a release: python .ci/release.py https://host/owner/contact-viewer OUT

The address is where the repository will be read. Links and pictures of README lead there, so that they work on a
package index too, and the metadata names it.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")


def prepare(folder: Path, address: str) -> None:
    """Write the committed files into a folder, with absolute links in README and addresses in the metadata."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    address = address.rstrip("/")
    version = re.search(r'__version__ = "(.+)"', (folder / "viewer/version.py").read_text())
    assert version is not None
    tree = f"v{version[1]}"

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"
        return f"{link[1]}[{link[2]}]({address}/{kind}/{tree}/{link[3]})"

    readme, project = folder / "README.md", folder / "pyproject.toml"
    readme.write_text(_LINK.sub(absolute, readme.read_text()))
    urls = {
        "Repository": address,
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/{tree}/CHANGELOG.md",
    }
    lines = [f'{name} = "{url}"' for name, url in urls.items()]
    text = project.read_text()
    project.write_text(
        text.replace("[project.scripts]", "\n".join(["[project.urls]", *lines, "", "[project.scripts]"]))
    )


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[1].startswith("https://"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name), sys.argv[1])
        subprocess.run([sys.executable, "-m", "build", "--outdir", sys.argv[2], name], check=True)
