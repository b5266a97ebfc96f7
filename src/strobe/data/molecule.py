"""Molecules: structure files as they are, or RDKit molecules and SMILES turned into PDB."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from strobe.data.media import Media, MediaFiles
from strobe.data.source import Source, is_stream, read_stream
from strobe.errors import MissingExtra


class Molecule(Media):
    """A molecule from a structure file, by path or open; see also `from_smiles` and `from_rdkit`."""

    _log_type = "molecule-file"
    SUPPORTED_TYPES = ("pdb", "pqr", "mmcif", "mcif", "cif", "sdf", "sd", "gro", "mol2", "mmtf")
    SUPPORTED_RDKIT_TYPES = ("mol", "sdf")

    def __init__(self, data_or_path: Any, caption: str | None = None, *, file_type: str | None = None) -> None:
        self.caption = None if caption is None else str(caption)
        if isinstance(data_or_path, (str, os.PathLike)):
            self._source = Source.from_path(data_or_path, "Molecule", self.SUPPORTED_TYPES)
        elif is_stream(data_or_path):
            if file_type is None:
                file_type = Path(getattr(data_or_path, "name", "")).suffix[1:]
            if file_type not in self.SUPPORTED_TYPES:
                types = ", ".join(self.SUPPORTED_TYPES)
                raise ValueError(f"a Molecule from an open file needs file_type=, one of {types}; got {file_type!r}")
            self._source = Source(file_type, content=read_stream(data_or_path))
        else:
            raise TypeError(f"a Molecule is made from a path or an open file, got {type(data_or_path).__name__}")

    @classmethod
    def from_rdkit(
        cls,
        data_or_path: Any,
        caption: str | None = None,
        convert_to_3d_and_optimize: bool = True,
        mmff_optimize_molecule_max_iterations: int = 200,
    ) -> Molecule:
        """Return an RDKit molecule, or the one in a .mol or .sdf file; finding its 3-D shape may take long."""
        import io

        chem, all_chem = _rdkit()
        molecule = data_or_path
        if isinstance(data_or_path, (str, os.PathLike)):
            source = Source.from_path(data_or_path, "Molecule.from_rdkit", cls.SUPPORTED_RDKIT_TYPES)
            # an .sdf file holds many molecules of the form that a .mol file holds one of: the first is taken
            molecule = chem.MolFromMolBlock(source.read().decode())
        if molecule is None:
            raise ValueError(f"RDKit finds no molecule in {data_or_path!r}")
        if convert_to_3d_and_optimize:
            molecule = chem.AddHs(molecule)
            all_chem.EmbedMolecule(molecule)
            all_chem.MMFFOptimizeMolecule(molecule, maxIters=mmff_optimize_molecule_max_iterations)
        return cls(io.StringIO(chem.MolToPDBBlock(molecule)), caption, file_type="pdb")

    @classmethod
    def from_smiles(
        cls,
        data: str,
        caption: str | None = None,
        sanitize: bool = True,
        convert_to_3d_and_optimize: bool = True,
        mmff_optimize_molecule_max_iterations: int = 200,
    ) -> Molecule:
        """Return the molecule that a SMILES string describes."""
        molecule = _rdkit()[0].MolFromSmiles(data, sanitize=sanitize)
        if molecule is None:
            raise ValueError(f"{data!r} is not a SMILES string that RDKit can read")
        return cls.from_rdkit(molecule, caption, convert_to_3d_and_optimize, mmff_optimize_molecule_max_iterations)

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        record = {"_type": self._log_type, **self._source.store(files, "molecule", key, step)}
        if self.caption is not None:
            record["caption"] = self.caption
        return record

    def read(self) -> bytes:
        """Return the bytes of the structure file."""
        return self._source.read()


def _rdkit() -> tuple[Any, Any]:
    import importlib

    try:
        return importlib.import_module("rdkit.Chem"), importlib.import_module("rdkit.Chem.AllChem")
    except ImportError as exc:
        raise MissingExtra("molecules from RDKit or SMILES need RDKit; run: pip install rdkit") from exc
