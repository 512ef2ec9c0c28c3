// Package dates reads the days that a text names, in English, Japanese and Chinese.
package dates
