"""The ways to walk through the layers. All obey the definition in `hardmax.dynamics`; they differ in arithmetic."""
