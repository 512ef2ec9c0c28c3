// Package dates reads the days that a text names, in English, Japanese and Chinese, absolute or relative to a day.
package dates
