"""Two reviews of our own, of about the length that reviews of IMDb have, for the picture of two reviews."""

REVIEWS = {
    "positive": (
        "I had heard about this one for years and finally watched it last night with my sister. What a great little "
        "film! The story is simple: an old clockmaker and a girl from the harbour repair a broken carousel over one "
        "long summer. But the two lead performances are wonderful, funny and sad in the same scene, and the young "
        "actress is a real discovery. The director lets every moment breathe, the music is beautiful without ever "
        "telling you what to feel, and the photography of the empty beach in the rain is simply perfect. Yes, the "
        "middle part is a bit slow, and some people will find the ending too quiet. I loved it. There is more truth "
        "in its last ten minutes than in most expensive movies of this year. My sister cried, I laughed, and we both "
        "talked about it until late. It is one of the best family films I have seen in a long time, and I enjoyed "
        "every minute of it. See it if you can; you will not regret it."
    ),
    "negative": (
        "Where do I begin? I wanted to like this movie because the trailer looked exciting and I usually enjoy the "
        "lead actor, but it is easily one of the worst films I have seen. The plot makes no sense at all: a detective "
        "loses his memory, finds it again in a bar, and then the script forgets about it for an hour. The dialogue is "
        "awful, the editing is a mess, and the special effects look as if somebody had made them on an old phone. "
        "Nobody in the cast seems to care. The villain shouts all his lines, the love story is boring and "
        "predictable, and the great twist at the end was obvious after ten minutes. Even the music is annoying. I "
        "paid good money for this and almost left the cinema; the couple behind us did. What a waste of time and of "
        "talented people. If there is a sequel, and the last scene threatens one, I will stay at home and clean the "
        "oven instead. Poor, dull, and far too long."
    ),
}
