"""Pictures (extra `figures`). A function takes data and axes and gives back what it drew; nothing here calls `show`."""

from hardmax.errors import need

# Here, since every file of this folder is reached through it: most of them import matplotlib before anything of ours.
need("Drawing", "figures")
