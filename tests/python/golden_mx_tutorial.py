"""72 outputs of a real trn3 and the fp32 values expected of them.

Numbers printed in the SDK documents, nki/deep-dives/mxfp-matmul.rst, section
"Executing the Code", at commit 81ce03ae261e: six programs that multiply MX
tiles into a bf16 PSUM tile of (128, 512). Of each, the first and the last row,
their first three and last three columns. The inputs are not published. Device
values are bf16 and printed to eight decimals; expected ones are fp32, summed on
a host in another order than the device's, and printed to eight decimals.
"""

from __future__ import annotations

# (device, expected) in the order of printing: first row, last row.
PRINTED: dict[str, tuple[tuple[float, float], ...]] = {
    "offline, e5m2 x e5m2": (
        (0.02526855, 0.02535721), (0.59765625, 0.5957752), (1.15625, 1.1556101),
        (-0.09033203, -0.09036541), (-0.10888672, -0.10906862), (-0.84375, -0.8448767),
        (0.25585938, 0.2551025), (0.18554688, 0.1856966), (-0.546875, -0.54681885),
        (-0.71875, -0.71797514), (-0.6015625, -0.6026518), (-0.46484375, -0.4641544),
    ),
    "offline, fp4 x fp4": (
        (-0.02038574, -0.02036181), (0.02648926, 0.02647817), (0.10351562, 0.10362364),
        (-0.25, -0.24955288), (0.02404785, 0.02399684), (0.08154297, 0.08132255),
        (0.234375, 0.23485765), (-0.0456543, -0.04565394), (1.140625, 1.1424086),
        (1.1015625, 1.0981529), (0.04833984, 0.04839906), (-0.17675781, -0.17722145),
    ),
    "on device, fp4 x e5m2": (
        (-0.12792969, -0.1284121), (0.02685547, 0.02687968), (-0.19140625, -0.19178611),
        (0.05883789, 0.05882631), (-0.01916504, -0.01915852), (-0.66796875, -0.666565),
        (0.03198242, 0.03191248), (-0.24316406, -0.24304396), (-0.1640625, -0.16389877),
        (0.06591797, 0.06606946), (-0.11914062, -0.11931092), (0.6015625, 0.60205466),
    ),
    "on device, e5m2 x e5m2": (
        (0.02832031, 0.02831857), (-0.29296875, -0.29297137), (0.04394531, 0.04390652),
        (-0.13671875, -0.13685682), (-0.00704956, -0.00703458), (-0.47265625, -0.47168562),
        (0.03442383, 0.03451066), (-0.75, -0.7511592), (0.11572266, 0.11560257),
        (0.86328125, 0.86369723), (-0.00735474, -0.00734489), (0.33007812, 0.3300762),
    ),
    "strided tensor copy, e5m2 x e5m2": (
        (0.56640625, 0.5663527), (-1.28125, -1.2832397), (0.26953125, 0.26900524),
        (0.5859375, 0.5861912), (0.31054688, 0.3109728), (-0.60546875, -0.6038357),
        (1.2421875, 1.2426924), (-0.859375, -0.85944945), (-1.140625, -1.1438001),
        (-0.06542969, -0.0654989), (0.11425781, 0.11429967), (0.6015625, 0.6028823),
    ),
    "strided dma, e5m2 x e5m2": (
        (0.32421875, 0.32461044), (0.43359375, 0.43410686), (-0.09814453, -0.09810834),
        (0.82421875, 0.82437325), (-2.171875, -2.1703691), (0.71484375, 0.71522826),
        (-0.47070312, -0.47003102), (-0.734375, -0.733371), (0.09765625, 0.09745546),
        (1.328125, 1.3250915), (-1.09375, -1.0969493), (-0.32226562, -0.32166338),
    ),
}

# The one pair of 72 in which the device's value is not the nearest bf16 of the
# expected one: the device has 207 * 2^-13, while 0.02535721 is 207.73 * 2^-13.
# Why is not known. The device's sum must have been at most 207.5 * 2^-13, that is
# 2.8e-5 below the expected one, and no order of fp32 additions explains that: with
# inputs drawn as the tutorial draws them (four seeds), the expected values are
# 8e-8 rms and at most 3e-6 from the exact ones, and chains of 32 rows at most 4e-6
# from the expected ones. The tutorial seeds nothing and checks to 5e-2 only.
UNEXPLAINED = ("offline, e5m2 x e5m2", 0)
