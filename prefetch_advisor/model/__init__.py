"""The types that flow from sources to reports: frozen, without behaviour."""
