"""Pictures (extra `figures`). A function takes data and axes and gives back what it drew; nothing here calls `show`."""
