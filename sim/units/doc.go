// Package units reads what people write as a value: durations, rates and decimal numbers, exact and
// bounded, and writes rates.
package units
