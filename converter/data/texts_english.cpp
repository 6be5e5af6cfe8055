// The built-in English texts: data only.
#include "data/built_in_texts.h"

namespace bantam::convert {
namespace {

// These texts also calibrate: their words and their order determine bytes of files.

constexpr const char* kCommands[] = {
    "turn on the lights in the kitchen",
    "play the new album by nina simone",
    "set a timer for twenty five minutes",
    "book a table for four at an italian restaurant tomorrow at 7 pm",
    "what will the weather be like in Oslo on friday",
    "add this song to my running playlist",
    "wake me up at six thirty",
    "find showtimes for the late movie near me",
    "rate this novel five stars out of six",
    "stop",
    "Call Mom.",
    "how long does it take to drive to the airport",
};

constexpr const char* kOpinions[] = {
    "A warm, funny and surprisingly wise film.",
    "the plot makes no sense and the acting is worse",
    "I wanted to like it, but two hours of this was two hours too many.",
    "not bad at all",
    "The soup was cold, the waiter was rude, and we will never come back!",
    "Best purchase I have made this year.",
    "it is neither good nor bad , just forgettable",
    "An hour in, nobody in the room was laughing.",
    "exceeds every expectation",
    "The sequel lacks everything that made the first one charming.",
    "Arrived late, but works perfectly.",
    "hardly a masterpiece, yet oddly moving",
};

constexpr const char* kStatements[] = {
    "Water boils at 100 degrees Celsius at sea level.",
    "Who wrote the first computer program?",
    "The committee will meet again on 14 March 2031 in Geneva.",
    "My card was charged twice for the same order.",
    "Why is the sky blue during the day and red in the evening?",
    "A man is playing a guitar on the street.",
    "Someone is slicing an onion.",
    "The stock fell 3.5% after the company cut its forecast.",
    "Please send the invoice to accounts@example.org before noon.",
    "There are 1,024 bytes in a kilobyte.",
    "The old bridge was closed to traffic, so the bus took another way.",
    "Is it possible to change my delivery address?",
    "Dogs bark; cats, on the whole, do not.",
    "Marie Curie won two Nobel Prizes, in physics and in chemistry.",
    "He said: \"I'll be back in 5-10 minutes\" and left.",
    "The quick brown fox jumps over the lazy dog.",
};

constexpr const char* kOddForms[] = {
    "Flight LH 2037 from Munich to Rotterdam, gate B12",
    "C++17 & Rust (2021 edition)",
    "https://example.org/a?b=c#d",
    "3 + 4 * 2 / (1 - 5) ^ 2",
    "ISBN 978-0-306-40615-7",
    "u r gr8 :-)",
    "!!!",
    "a",
    "1",
    "?",
    "WHY ARE YOU SHOUTING",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "the the the the the the the the",
    "one two three four five six seven eight nine ten eleven twelve thirteen",
};

constexpr const char* kEmoji[] = {"😀 great job 🎉"};

constexpr const char* kLong[] = {
    "When the last guests had gone home, she opened all the windows, put the chairs back along the wall, counted the "
    "glasses that were still whole, and sat down with a cup of tea to write a letter to her brother, who had "
    "promised to come and had not, as he had not come every summer since their parents sold the house by the lake.",
};

// These texts do not calibrate.

constexpr const char* kMoreCommands[] = {
    "play some jazz from the sixties",
    "i want to hear the latest song by adele",
    "turn the volume down a little",
    "skip this track and play the next one",
    "put on my favourite playlist for cooking",
    "add another artist to my road trip playlist",
    "who sings this song",
    "will it rain in london tomorrow morning",
    "is it going to be cold this weekend",
    "what is the forecast for the national park on sunday",
    "how hot will it get in texas next week",
    "do i need an umbrella today",
    "reserve a table for two at a french restaurant tonight",
    "book a restaurant with outdoor seating for six people in boston",
    "i need a place to eat for my family at noon",
    "find a cheap hotel near the central station",
    "give this book three out of five stars",
    "rate the current album two points",
    "i would give that essay a zero",
    "find the book called the end of the river",
    "search for the movie the silent garden",
    "show me the schedule of the nearest cinema",
    "what time does the next film start",
    "which animated movies are playing tonight",
    "turn off all the lights in the bedroom",
    "set the temperature in the living room to twenty degrees",
    "remind me to call the doctor on monday at nine",
    "send a message to my sister that i will be late",
    "what is on my calendar for thursday",
    "cancel the meeting at three o'clock",
    "how do i get to the museum by bus",
    "order a large pizza with cheese and mushrooms",
    "start the washing machine at ten",
};

constexpr const char* kMoreOpinions[] = {
    "an excellent cast is wasted on a weak and predictable story",
    "one of the best films of the year",
    "a dull , lifeless and badly written comedy",
    "the performances are strong and the music is beautiful",
    "I could not stop reading this book.",
    "This is the worst hotel I have ever stayed in.",
    "Great value for the money, I would buy it again.",
    "The battery died after a week and nobody answered my emails.",
    "too long , too loud and not very funny",
    "a smart and moving portrait of a difficult man",
    "The screen is bright and clear, and the sound is even better.",
    "It broke the first time I used it.",
    "the director never finds the right tone for this material",
    "fresh , charming and full of good ideas",
    "Do not waste your time on this show.",
    "The staff were friendly and the room was very clean.",
    "I was bored from the first minute to the last.",
    "it has a lot of heart and very little sense",
    "Delivery was fast and everything was well packed.",
    "a terrible script makes even good actors look bad",
    "The food was delicious, but the service was slow.",
    "what a pleasant surprise this little film is",
    "The game is fun at first, then it becomes the same thing again and again.",
    "a powerful story , beautifully told",
    "I expected more from such a famous author.",
    "You will laugh, you will cry, and you will want to see it again.",
    "The shoes are comfortable and look wonderful.",
    "an ugly , pointless and cruel movie",
    "Simple to use and works with all my devices.",
    "The ending ruined what had been a perfect evening.",
    "there is nothing new here , and nothing true",
    "Their customer service is a disaster.",
    "a joy from beginning to end",
};

constexpr const char* kMoreStatements[] = {
    "The company opened a new factory in northern Italy last year.",
    "John Smith was elected president of the club in 1998.",
    "Scientists have found water on the surface of a distant planet.",
    "The train from Paris to Berlin was delayed by two hours.",
    "How many people live in the capital of Canada?",
    "Where can I find the nearest post office?",
    "The president met the German chancellor in Washington on Tuesday.",
    "My account has been blocked and I cannot log in.",
    "What is the exchange rate between the dollar and the euro?",
    "The river flows through three countries before it reaches the sea.",
    "She has been teaching mathematics at the university for ten years.",
    "A woman is reading a newspaper in the park.",
    "Two children are playing football on the beach.",
    "The court decided that the contract was not valid.",
    "I would like to return this product and get my money back.",
    "When was the first telephone built?",
    "The team won the match by four goals to one.",
    "Microsoft and Google reported higher profits than expected.",
    "The bank has raised its interest rates for the third time this year.",
    "Plants need light, water and air to grow.",
    "The museum is open every day except Monday.",
    "Several villages were without power after the storm.",
    "What is the difference between a virus and a bacterium?",
    "The film was directed by a young woman from New Zealand.",
    "My new card has not arrived yet, although I ordered it two weeks ago.",
    "The doctor told him to rest and drink plenty of water.",
    "Mount Everest is the highest mountain in the world.",
    "A dog is running across a green field.",
    "The software can be installed on any computer.",
    "They moved to Australia in the summer of 2005.",
};

template <size_t kCount>
constexpr BuiltInGroup group(TextKind kind, const char* const (&texts)[kCount]) {
  return {"en", Script::kLatin, kind, texts, kCount};
}

constexpr BuiltInGroup kGroups[] = {
    group(TextKind::kCommand, kCommands),
    group(TextKind::kOpinion, kOpinions),
    group(TextKind::kStatement, kStatements),
    group(TextKind::kOdd, kOddForms),
    group(TextKind::kOdd, kEmoji),
    group(TextKind::kOdd, kLong),
    group(TextKind::kCommand, kMoreCommands),
    group(TextKind::kOpinion, kMoreOpinions),
    group(TextKind::kStatement, kMoreStatements),
};

}  // namespace

std::vector<BuiltInGroup> english_texts() { return {std::begin(kGroups), std::end(kGroups)}; }

}  // namespace bantam::convert
