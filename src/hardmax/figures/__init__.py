"""Pictures. A function takes data and axes and gives back what it drew; nothing here calls `show`.

Files that draw take matplotlib from `mpl.py` (extra `figures`); the cards of a notebook are SVG, and need none.
"""
