package traffic

// slotMean is how many requests come in a slot on average.
const slotMean = 8

// mostInSlot is the largest number of requests of a slot: more has a probability below 2^-64.
const mostInSlot = len(poissonTable)

// poissonTable holds in Q64, rounded down, the probability that not more than i requests come in a
// slot, by the Poisson distribution with mean slotMean.
var poissonTable = [...]uint64{
	0x0015fc21041027ac, 0x00c5dd2924916512, 0x03856149a6965aaa, 0x0ad96c4b014e3ee8,
	0x1981824db6be0766, 0x30f4d8b872a414fb, 0x50394bf16d2c2717, 0x73f53d571dc7a981,
	0x97b12ebcce632beb, 0xb774affac0b48365, 0xd0dde42c4f5bfc94, 0xe358f2dbfced0ee4,
	0xefaafca670a31b1a, 0xf73feefba426d3d8, 0xfb950bbe9d0461fc, 0xfde4928cff9cadcb,
	0xff0c55f430e8d3b2, 0xff9784bb572ac76a, 0xffd560a212d6502e, 0xffef6c618a46f58e,
	0xfff9d77aed40d14e, 0xfffdcf84990db74e, 0xffff40fc7a6f7f4e, 0xffffc17f3822342c,
	0xffffec55775dc5cc, 0xfffffa0aaa521d5b, 0xfffffe426b3ad5d6, 0xffffff8258894563,
	0xffffffddc0e8d2f9, 0xfffffff6f82f524e, 0xfffffffdb1977443, 0xffffffff6dd35bfe,
	0xffffffffdce255ed, 0xfffffffff7ceb18b, 0xfffffffffe246cc0, 0xffffffffff971b32,
	0xffffffffffe97ada, 0xfffffffffffb4a58, 0xffffffffffff0a3d, 0xffffffffffffcf23,
	0xfffffffffffff685, 0xfffffffffffffe34, 0xffffffffffffffaa, 0xfffffffffffffff0,
	0xfffffffffffffffd,
}

// poissonFrom is where to begin in poissonTable for the first four bits of a draw: how many of its
// entries are not above the least such draw.
var poissonFrom = [16]uint8{0, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 13}
