"""Tests of the measures: values, text, agreement with other programs, ties and bounds."""
