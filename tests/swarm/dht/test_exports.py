"""What the package offers, and that it costs nothing until it is used."""

from __future__ import annotations

import subprocess
import sys

import strobe.swarm.dht as package


def test_every_name_is_there() -> None:
    assert set(package.__all__) == set(package._HOME)
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_import_strobe_loads_no_swarm_and_the_dht_no_tensors() -> None:
    code = (
        "import sys, strobe; assert not any(name.startswith('strobe.swarm') for name in sys.modules); "
        "import strobe.swarm.dht.dht; assert not {'torch', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
