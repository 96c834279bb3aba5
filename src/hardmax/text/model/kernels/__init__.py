"""The walk of many texts through the layers."""
