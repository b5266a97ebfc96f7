"""Video: ResNeXt3D (Xie et al. 2017, with convolutions over time as in Hara et al. 2018)."""
