// Package grid is how much each case loses over the values of one setting, or of two: a Map per case, with the point at which the
// input stands and the cliff, where loss begins.
//
// It runs nothing and judges nothing: sim/sweep fills the cells, each with the verdict of a case.
//
// The one data path: axes -> Points -> cells of a Map -> its Stretches and its Cliff.
package grid
