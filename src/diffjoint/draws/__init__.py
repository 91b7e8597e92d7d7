"""Draws by trees and regressions: lost cells drawn in turn, for several rounds."""
