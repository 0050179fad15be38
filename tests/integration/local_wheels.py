"""A folder of wheels made on the spot, and a project that needs them."""

from __future__ import annotations

import importlib.metadata
import zipfile
from collections.abc import Sequence
from pathlib import Path

PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
# A plugin of pytest with a second module, which a library imports: preloading that library comes before the plugin.
LIBRARIES = {
    "greeter": {"greeter_parts.py": "WORD = 'hello'\n", "greeter_plugin.py": "import greeter_parts\n"},
    "greeting": {"greeting.py": "from greeter_parts import WORD\n"},
}
METADATA = {
    "greeter": {"entry_points.txt": "[pytest11]\ngreeter = greeter_plugin\n", "METADATA": ""},
    "greeting": {"METADATA": "Requires-Dist: greeter\n"},
}
PROJECT = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\ndependencies = ["greeting"]\n'
    '[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n',
    "app.py": "import greeting\n\n\ndef greet(name):\n    return greeting.WORD + ' ' + name\n",
    "test_app.py": "import app\n\n\ndef test_greet():\n    assert app.greet('you') == 'hello you'\n",
}


def make_wheels(parent: Path, packed: Sequence[str] = PYTEST) -> Path:
    """A folder below `parent`: two libraries, and what is `packed` from what is installed here."""
    folder = parent / "wheels"
    folder.mkdir()
    for name in packed:
        found = importlib.metadata.distribution(name)
        with zipfile.ZipFile(folder / f"{name}-{found.version}-py3-none-any.whl", "w") as wheel:
            for file in found.files or ():
                if ".." not in file.parts and "__pycache__" not in file.parts:
                    wheel.write(file.locate(), str(file))
    for name, modules in LIBRARIES.items():
        head = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
        about = {
            "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            **METADATA[name],
        }
        about |= {"METADATA": head + about["METADATA"], "RECORD": "".join(f"{module},,\n" for module in modules)}
        with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as wheel:
            for path, text in {**modules, **{f"{name}-1.dist-info/{key}": text for key, text in about.items()}}.items():
                wheel.writestr(path, text)
    return folder
