/* A GTP engine that costs next to nothing: random legal moves that fill no eyes of its own.

   random_go [SEED [MOVES [MILLISECONDS]]]: passes once it has made MOVES moves (50), and waits so long
   before each (0). What a competition with it takes is what the arena takes. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { MAX_SIZE = 19, ROW = MAX_SIZE + 2, POINTS = ROW * ROW, EMPTY = 0, BLACK = 1, WHITE = 2, EDGE = 3 };

static const int NEIGHBOURS[4] = {-ROW, -1, 1, ROW};
static const int CORNERS[4] = {-ROW - 1, -ROW + 1, ROW - 1, ROW + 1};
static const char LETTERS[] = "ABCDEFGHJKLMNOPQRST";

static int size = 9, board[POINTS], ko;
static unsigned long long chance = 1;

static unsigned draw(unsigned below) {
    chance ^= chance << 13, chance ^= chance >> 7, chance ^= chance << 17;
    return (unsigned)((chance >> 33) % below);
}

static void clear(void) {
    for (int point = 0; point < POINTS; point++) {
        int row = point / ROW, column = point % ROW;
        board[point] = row >= 1 && row <= size && column >= 1 && column <= size ? EMPTY : EDGE;
    }
    ko = 0;
}

/* The stones of a group, and whether it has a liberty. */
static int group_of(int first, int *stones, int *has_liberty) {
    static int seen[POINTS], pass;
    int count = 0, colour = board[first];
    *has_liberty = 0;
    stones[count++] = first, seen[first] = ++pass;
    for (int next = 0; next < count; next++)
        for (int side = 0; side < 4; side++) {
            int beside = stones[next] + NEIGHBOURS[side];
            if (board[beside] == EMPTY)
                *has_liberty = 1;
            else if (board[beside] == colour && seen[beside] != pass)
                stones[count++] = beside, seen[beside] = pass;
        }
    return count;
}

/* Place a stone and take what it captures; undone, and 0 returned, if it would have no liberty. */
static int place(int colour, int point) {
    int stones[POINTS], alive, taken = 0, last = 0;
    board[point] = colour;
    for (int side = 0; side < 4; side++) {
        int beside = point + NEIGHBOURS[side];
        if (board[beside] != 3 - colour)
            continue;
        int count = group_of(beside, stones, &alive);
        if (alive)
            continue;
        for (int stone = 0; stone < count; stone++)
            board[stones[stone]] = EMPTY;
        taken += count, last = beside;
    }
    int count = group_of(point, stones, &alive);
    if (!alive) {
        board[point] = EMPTY;
        return 0;
    }
    int free_points = 0;
    for (int side = 0; side < 4; side++)
        free_points += board[point + NEIGHBOURS[side]] == EMPTY;
    ko = taken == 1 && count == 1 && free_points == 1 ? last : 0;
    return 1;
}

static int own_eye(int colour, int point) {
    int foreign = 0, at_edge = 0;
    for (int side = 0; side < 4; side++)
        if (board[point + NEIGHBOURS[side]] != colour && board[point + NEIGHBOURS[side]] != EDGE)
            return 0;
    for (int corner = 0; corner < 4; corner++) {
        foreign += board[point + CORNERS[corner]] == 3 - colour;
        at_edge |= board[point + CORNERS[corner]] == EDGE;
    }
    return foreign + at_edge < 2;
}

/* Choose and play a move; 0 for a pass. */
static int choose(int colour) {
    int candidates[POINTS], count = 0, was_ko = ko;
    for (int point = 0; point < POINTS; point++)
        if (board[point] == EMPTY && point != ko && !own_eye(colour, point))
            candidates[count++] = point;
    while (count) {
        int chosen = (int)draw((unsigned)count);
        if (place(colour, candidates[chosen]))
            return candidates[chosen];
        candidates[chosen] = candidates[--count];
    }
    ko = was_ko ? 0 : ko;
    return 0;
}

static int read_colour(const char *word) {
    return word && (*word == 'b' || *word == 'B') ? BLACK : WHITE;
}

static int read_point(const char *word) {
    const char *letter = word && word[0] >= 'A' ? strchr(LETTERS, word[0] & ~32) : NULL;
    int column = letter && *letter ? (int)(letter - LETTERS) + 1 : 0, row = letter ? atoi(word + 1) : 0;
    return column >= 1 && column <= size && row >= 1 && row <= size ? row * ROW + column : 0;
}

int main(int count, char **arguments) {
    static const char *known[] = {"boardsize", "clear_board", "genmove", "known_command", "komi", "name",
                                  "play",      "protocol_version", "quit", "version"};
    int limit = count > 2 ? atoi(arguments[2]) : 50, moves = 0, wait = count > 3 ? atoi(arguments[3]) : 0;
    char line[4096];
    chance = (count > 1 ? strtoull(arguments[1], NULL, 10) : 1) * 0x9E3779B97F4A7C15ull + 1;
    clear();
    while (fgets(line, sizeof line, stdin)) {
        char *command = strtok(line, " \t\r\n"), *first = strtok(NULL, " \t\r\n");
        char *second = strtok(NULL, " \t\r\n");
        if (!command)
            continue;
        if (!strcmp(command, "play")) {
            int point = read_point(second), pass = second && !strcasecmp(second, "pass");
            if (!pass && (!point || board[point] != EMPTY || !place(read_colour(first), point))) {
                printf("? illegal move\n\n");
            } else {
                ko = pass ? 0 : ko;
                printf("= \n\n");
            }
        } else if (!strcmp(command, "genmove")) {
            struct timespec pause = {wait / 1000, wait % 1000 * 1000000L};
            if (wait)
                nanosleep(&pause, NULL);
            int point = moves++ < limit ? choose(read_colour(first)) : 0;
            if (point)
                printf("= %c%d\n\n", LETTERS[point % ROW - 1], point / ROW);
            else
                ko = 0, printf("= pass\n\n");
        } else if (!strcmp(command, "known_command")) {
            int found = 0;
            for (size_t each = 0; each < sizeof known / sizeof *known; each++)
                found |= first && !strcmp(first, known[each]);
            printf("= %s\n\n", found ? "true" : "false");
        } else if (!strcmp(command, "boardsize")) {
            int asked = first ? atoi(first) : 0;
            if (asked >= 2 && asked <= MAX_SIZE)
                size = asked, clear(), printf("= \n\n");
            else
                printf("? unacceptable size\n\n");
        } else if (!strcmp(command, "clear_board")) {
            clear(), moves = 0, printf("= \n\n");
        } else if (!strcmp(command, "protocol_version")) {
            printf("= 2\n\n");
        } else if (!strcmp(command, "name")) {
            printf("= random\n\n");
        } else if (!strcmp(command, "version") || !strcmp(command, "komi") || !strcmp(command, "quit")) {
            printf("= \n\n");
        } else {
            printf("? unknown command\n\n");
        }
        fflush(stdout);
        if (!strcmp(command, "quit"))
            return 0;
    }
    return 0;
}
