package tiny

import "strings"

func RectangleArea(width, height int) int {
	return width * height
}

func IsEven(number int) bool {
	return number%2 == 0
}

func Average(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	return sum / float64(len(values))
}

func Double(number int) int {
	return number * 2
}

func Absolute(number int) int {
	if number < 0 {
		return -number
	}
	return number
}

func Largest(values []int) int {
	best := values[0]
	for _, value := range values {
		if value > best {
			best = value
		}
	}
	return best
}

func LastItem(values []int) int {
	return values[len(values)-1]
}

func Squares(values []int) []int {
	squares := []int{}
	for _, value := range values {
		squares = append(squares, value*value)
	}
	return squares
}

func WithoutNegatives(values []int) []int {
	kept := []int{}
	for _, value := range values {
		if value >= 0 {
			kept = append(kept, value)
		}
	}
	return kept
}

func FirstLetter(word string) string {
	return word[:1]
}

func Initials(name string) string {
	letters := ""
	for _, part := range strings.Fields(name) {
		letters += strings.ToUpper(part[:1])
	}
	return letters
}

func LongestWord(words []string) string {
	best := ""
	for _, word := range words {
		if len(word) > len(best) {
			best = word
		}
	}
	return best
}
