"""A task of every model, so small that a step takes a moment; tests of a model itself take its `config`."""

from __future__ import annotations

from dataclasses import replace

from torch import nn

from strobe.bench.workloads.cvt.model import CvtConfig
from strobe.bench.workloads.cvt.ootb import CvtTask
from strobe.bench.workloads.dlrm.model import DlrmConfig
from strobe.bench.workloads.dlrm.ootb import DlrmTask
from strobe.bench.workloads.layers.encoder import EncoderConfig
from strobe.bench.workloads.oscar.model import OscarConfig
from strobe.bench.workloads.oscar.ootb import OscarTask
from strobe.bench.workloads.regnet.model import RegNetConfig
from strobe.bench.workloads.regnet.ootb import RegNetTask
from strobe.bench.workloads.resnext3d.model import ResNext3dConfig
from strobe.bench.workloads.resnext3d.ootb import ResNext3dTask
from strobe.bench.workloads.rnnt.model import RnntConfig
from strobe.bench.workloads.rnnt.ootb import DecodingTask, RnntTask
from strobe.bench.workloads.xlmr.model import XlmrConfig
from strobe.bench.workloads.xlmr.ootb import XlmrTask

DLRM = DlrmTask(
    DlrmConfig(name="small", bottom=(9, 12, 8), top=(16, 1), num_tables=3, num_rows=40, lookups=5, is_fixed=False)
)
XLMR = XlmrTask(
    XlmrConfig(
        name="tiny",
        encoder=EncoderConfig(layers=2, width=16, heads=4, feed_forward=32, norm_eps=1e-5),
        vocabulary=50,
        positions=24,
    ),
    sequence=9,
)
XLMR_VARIED = replace(XLMR, percentiles={0.0: 2, 1.0: 9})
CVT = CvtTask(
    CvtConfig(name="tiny", depths=(1, 1, 2), widths=(8, 12, 16), heads=(1, 2, 4), num_classes=5), image_size=28
)
OSCAR = OscarTask(
    OscarConfig(
        name="tiny",
        encoder=EncoderConfig(layers=2, width=16, heads=4, feed_forward=32, norm_eps=1e-12),
        vocabulary=50,
        positions=40,
        region_features=14,
        answers=7,
    ),
    text=40,
    regions=14,
)
RNNT = RnntTask(
    RnntConfig(name="tiny", symbols=6, predictor_width=5, features=7, encoder_width=8, joint_width=9, max_symbols=3),
    max_seconds=0.4,
)
DECODING = DecodingTask(RNNT.config, max_seconds=1.0)
RESNEXT3D = ResNext3dTask(
    ResNext3dConfig(name="tiny", depths=(1, 2), groups=2, group_width=4, stem_width=8, stage_width=16, num_classes=5),
    frames=5,
    image_size=15,
)
REGNET = RegNetTask(
    RegNetConfig(name="tiny", depths=(1, 2), widths=(16, 24), group_width=8, num_classes=5, stem_width=8), image_size=33
)

# Wide enough that eight bits have something to average over.
WIDE_DLRM = DlrmTask(replace(DLRM.config, bottom=(32, 64, 32), top=(64, 1), num_rows=100))
WIDE_REGNET = replace(REGNET, config=replace(REGNET.config, widths=(32, 48), stem_width=16))


class WeighedDlrmTask(DlrmTask):
    """Row weights are other than one, as if they had learned."""

    def build(self) -> nn.Module:
        model = super().build()
        for table in model.tables:
            if table.row_weights is not None:
                nn.init.uniform_(table.row_weights, 0.5, 2.0)
        return model
