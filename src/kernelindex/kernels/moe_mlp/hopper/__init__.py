"""The kernels for sm_90 in Gluon: warp specialisation, TMA, wgmma."""
