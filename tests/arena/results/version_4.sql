BEGIN TRANSACTION;
CREATE TABLE "ARENA_Attempt" (
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Attempt" INTEGER NOT NULL, 
	"ContestId" TEXT NOT NULL, 
	"Contest" BLOB, 
	"Matchup" TEXT NOT NULL, 
	"Players" TEXT NOT NULL, 
	"Detail" TEXT NOT NULL, 
	"Started" DATETIME NOT NULL, 
	PRIMARY KEY ("SeriesId", "Name", "Attempt"), 
	CONSTRAINT "Attempt_from_1" CHECK ("Attempt" >= 1), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("ContestId")
);
INSERT INTO "ARENA_Attempt" VALUES(1,'t1_0',1,'d6c68072db864b49b1fa6b9d2011603c/t1_0/1',NULL,'t1','["hold", "hold", "random", "random", "hold", "hold", "hold"]','{"setting": "0", "terms": {"selector": "least-played", "by": "fitness", "clones": "true", "kinds": "none", "pure": "true", "contestants": "hold*1,random*1", "settings": "0*1 diplomacy year_limit=1 move_limit=1000 scorer=internal"}}','2026-11-21 12:36:50.320310');
INSERT INTO "ARENA_Attempt" VALUES(3,'t2_0',1,'6b46f4896a1044299fdf0da52600e974/t2_0/1',NULL,'t2','["hold", "hold"]','{"setting": "0", "terms": {"selector": "least-played", "by": "fitness", "clones": "true", "kinds": "none", "pure": "true", "contestants": "hold*1", "settings": "0*1 diplomacy map=straits year_limit=1 move_limit=1000 scorer=internal"}}','2026-11-21 12:37:38.268485');
INSERT INTO "ARENA_Attempt" VALUES(5,'AvB_0',1,'94df0f9edcb8411999e792c8a0bdcf18/AvB_0/1',NULL,'AvB','["one", "two"]','','2026-11-21 12:38:02.946132');
CREATE TABLE "ARENA_Competition" (
	"SeriesId" INTEGER NOT NULL, 
	"Uuid" TEXT NOT NULL, 
	"Kind" TEXT NOT NULL, 
	"Game" TEXT NOT NULL, 
	"Settings" TEXT NOT NULL, 
	"MoveLimit" INTEGER NOT NULL, 
	"Scorer" TEXT NOT NULL, 
	"Created" DATETIME NOT NULL, 
	PRIMARY KEY ("SeriesId"), 
	CONSTRAINT "Scorer_known" CHECK ("Scorer" IN ('internal', 'players')), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("Uuid")
);
INSERT INTO "ARENA_Competition" VALUES(1,'d6c68072db864b49b1fa6b9d2011603c','mars','diplomacy','{"year_limit": 1}',1000,'internal','2026-11-21 12:36:50.071959');
INSERT INTO "ARENA_Competition" VALUES(3,'6b46f4896a1044299fdf0da52600e974','mars','diplomacy','{"map": "straits", "year_limit": 1}',1000,'internal','2026-11-21 12:37:37.796473');
INSERT INTO "ARENA_Competition" VALUES(5,'94df0f9edcb8411999e792c8a0bdcf18','all-play-all','go','{"board_size": 5, "komi": 0.5}',1000,'internal','2026-11-21 12:38:02.465072');
CREATE TABLE "ARENA_Competitor" (
	"ContestantId" INTEGER NOT NULL, 
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Current" BOOLEAN NOT NULL, 
	PRIMARY KEY ("ContestantId"), 
	FOREIGN KEY("ContestantId") REFERENCES "SAGA_Contestant" ("ContestantId"), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId")
);
INSERT INTO "ARENA_Competitor" VALUES(1,1,'hold',1);
INSERT INTO "ARENA_Competitor" VALUES(2,1,'random',1);
INSERT INTO "ARENA_Competitor" VALUES(3,3,'hold',1);
INSERT INTO "ARENA_Competitor" VALUES(4,5,'one',1);
INSERT INTO "ARENA_Competitor" VALUES(5,5,'two',1);
CREATE TABLE "ARENA_Game" (
	"GameId" INTEGER NOT NULL, 
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Matchup" TEXT NOT NULL, 
	"Attempt" INTEGER NOT NULL, 
	"Seed" BIGINT NOT NULL, 
	"ContestId" TEXT NOT NULL, 
	"Summary" TEXT NOT NULL, 
	"Detail" TEXT NOT NULL, 
	"Termination" TEXT NOT NULL, 
	"Voids" INTEGER NOT NULL, 
	"Started" DATETIME NOT NULL, 
	"StartBoard" TEXT NOT NULL, 
	"Record" TEXT NOT NULL, 
	"RecordExtension" TEXT NOT NULL, 
	"Warnings" TEXT NOT NULL, 
	"Moves" TEXT DEFAULT '[]' NOT NULL, 
	PRIMARY KEY ("GameId"), 
	CONSTRAINT game_counted_once UNIQUE ("SeriesId", "Name"), 
	FOREIGN KEY("SeriesId", "Name", "Attempt") REFERENCES "ARENA_Attempt" ("SeriesId", "Name", "Attempt"), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId"), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("ContestId")
);
INSERT INTO "ARENA_Game" VALUES(1,1,'t1_0','t1',1,3530521981158419026,'d6c68072db864b49b1fa6b9d2011603c/t1_0/1','draw 1901: AUS ENG FRA GER ITA RUS TUR','year limit; centres AUS 3 ENG 3 FRA 3 GER 4 ITA 3 RUS 4 TUR 3','frozen',0,'2026-11-21 12:36:51.648109','-------xooo-xo----------------------------------w-owo-w--wwoow--o-wo-b-o--w','{
 "format": "diplomacy-1",
 "game": "diplomacy",
 "name": "spring t1_0",
 "event": "spring",
 "date": "2026-11-21",
 "map": "standard",
 "edition": "2023",
 "choices": {
  "adjacent_convoy": "intent",
  "land_route_left": false,
  "unsaid_land_route_left": false,
  "removal_distance": "owned centres",
  "lenient_coasts": true
 },
 "stasis_limit": 0,
 "impasse_limit": 0,
 "year_limit": 1,
 "players": {
  "AUS": "hold",
  "ENG": "hold",
  "FRA": "random",
  "GER": "random",
  "ITA": "hold",
  "RUS": "hold",
  "TUR": "hold"
 },
 "seed": 3530521981158419026,
 "phases": [
  {
   "phase": "S1901M",
   "units": {
    "AUS": [
     "A BUD",
     "A VIE",
     "F TRI"
    ],
    "RUS": [
     "A MOS",
     "A WAR",
     "F SEV",
     "F STP/SC"
    ],
    "GER": [
     "A MUN",
     "A BER",
     "F KIE"
    ],
    "FRA": [
     "A PAR",
     "F BRE",
     "A MAR"
    ],
    "TUR": [
     "F ANK",
     "A CON",
     "A SMY"
    ],
    "ENG": [
     "F EDI",
     "F LON",
     "A LVP"
    ],
    "ITA": [
     "F NAP",
     "A ROM",
     "A VEN"
    ]
   },
   "centres": {
    "AUS": [
     "BUD",
     "VIE",
     "TRI"
    ],
    "RUS": [
     "MOS",
     "WAR",
     "SEV",
     "STP"
    ],
    "GER": [
     "MUN",
     "BER",
     "KIE"
    ],
    "FRA": [
     "PAR",
     "BRE",
     "MAR"
    ],
    "TUR": [
     "ANK",
     "CON",
     "SMY"
    ],
    "ENG": [
     "EDI",
     "LON",
     "LVP"
    ],
    "ITA": [
     "NAP",
     "ROM",
     "VEN"
    ]
   },
   "moves": {
    "AUS": "A BUD H, A VIE H, F TRI H, DRAW",
    "ENG": "F EDI H, F LON H, A LVP H, DRAW",
    "FRA": "A PAR S F BRE, F BRE H, A MAR - PIE",
    "GER": "A MUN S A MAR - BUR, A BER S A WAR - PRU, F KIE S A BER",
    "ITA": "F NAP H, A ROM H, A VEN H, DRAW",
    "RUS": "A MOS H, A WAR H, F SEV H, F STP/SC H, DRAW",
    "TUR": "F ANK H, A CON H, A SMY H, DRAW"
   },
   "openings": {
    "AUS": "Houseboat",
    "RUS": "Northern Houseboat"
   },
   "results": {
    "AUS": [
     {
      "order": "A BUD H",
      "outcome": "succeeded"
     },
     {
      "order": "A VIE H",
      "outcome": "succeeded"
     },
     {
      "order": "F TRI H",
      "outcome": "succeeded"
     }
    ],
    "RUS": [
     {
      "order": "A MOS H",
      "outcome": "succeeded"
     },
     {
      "order": "A WAR H",
      "outcome": "succeeded"
     },
     {
      "order": "F SEV H",
      "outcome": "succeeded"
     },
     {
      "order": "F STP/SC H",
      "outcome": "succeeded"
     }
    ],
    "GER": [
     {
      "order": "A MUN S A MAR - BUR",
      "outcome": "void",
      "reason": "void: the other unit was not ordered so"
     },
     {
      "order": "A BER S A WAR - PRU",
      "outcome": "void",
      "reason": "void: the other unit was not ordered so"
     },
     {
      "order": "F KIE S A BER",
      "outcome": "succeeded"
     }
    ],
    "FRA": [
     {
      "order": "A PAR S F BRE",
      "outcome": "succeeded"
     },
     {
      "order": "F BRE H",
      "outcome": "succeeded"
     },
     {
      "order": "A MAR - PIE",
      "outcome": "succeeded"
     }
    ],
    "TUR": [
     {
      "order": "F ANK H",
      "outcome": "succeeded"
     },
     {
      "order": "A CON H",
      "outcome": "succeeded"
     },
     {
      "order": "A SMY H",
      "outcome": "succeeded"
     }
    ],
    "ENG": [
     {
      "order": "F EDI H",
      "outcome": "succeeded"
     },
     {
      "order": "F LON H",
      "outcome": "succeeded"
     },
     {
      "order": "A LVP H",
      "outcome": "succeeded"
     }
    ],
    "ITA": [
     {
      "order": "F NAP H",
      "outcome": "succeeded"
     },
     {
      "order": "A ROM H",
      "outcome": "succeeded"
     },
     {
      "order": "A VEN H",
      "outcome": "succeeded"
     }
    ]
   }
  },
  {
   "phase": "F1901M",
   "units": {
    "AUS": [
     "A BUD",
     "A VIE",
     "F TRI"
    ],
    "RUS": [
     "A MOS",
     "A WAR",
     "F SEV",
     "F STP/SC"
    ],
    "GER": [
     "A MUN",
     "A BER",
     "F KIE"
    ],
    "FRA": [
     "A PAR",
     "A PIE",
     "F BRE"
    ],
    "TUR": [
     "F ANK",
     "A CON",
     "A SMY"
    ],
    "ENG": [
     "F EDI",
     "F LON",
     "A LVP"
    ],
    "ITA": [
     "F NAP",
     "A ROM",
     "A VEN"
    ]
   },
   "centres": {
    "AUS": [
     "BUD",
     "VIE",
     "TRI"
    ],
    "RUS": [
     "MOS",
     "WAR",
     "SEV",
     "STP"
    ],
    "GER": [
     "MUN",
     "BER",
     "KIE"
    ],
    "FRA": [
     "PAR",
     "BRE",
     "MAR"
    ],
    "TUR": [
     "ANK",
     "CON",
     "SMY"
    ],
    "ENG": [
     "EDI",
     "LON",
     "LVP"
    ],
    "ITA": [
     "NAP",
     "ROM",
     "VEN"
    ]
   },
   "moves": {
    "AUS": "A BUD H, A VIE H, F TRI H, DRAW",
    "ENG": "F EDI H, F LON H, A LVP H, DRAW",
    "FRA": "A PAR S F BRE - GAS, A PIE - TYR, F BRE - PIC",
    "GER": "A MUN S A PIE - TYR, A BER S A MUN - KIE, F KIE - DEN",
    "ITA": "F NAP H, A ROM H, A VEN H, DRAW",
    "RUS": "A MOS H, A WAR H, F SEV H, F STP/SC H, DRAW",
    "TUR": "F ANK H, A CON H, A SMY H, DRAW"
   },
   "results": {
    "AUS": [
     {
      "order": "A BUD H",
      "outcome": "succeeded"
     },
     {
      "order": "A VIE H",
      "outcome": "succeeded"
     },
     {
      "order": "F TRI H",
      "outcome": "succeeded"
     }
    ],
    "RUS": [
     {
      "order": "A MOS H",
      "outcome": "succeeded"
     },
     {
      "order": "A WAR H",
      "outcome": "succeeded"
     },
     {
      "order": "F SEV H",
      "outcome": "succeeded"
     },
     {
      "order": "F STP/SC H",
      "outcome": "succeeded"
     }
    ],
    "GER": [
     {
      "order": "A MUN S A PIE - TYR",
      "outcome": "succeeded"
     },
     {
      "order": "A BER S A MUN - KIE",
      "outcome": "void",
      "reason": "void: the other unit was not ordered so"
     },
     {
      "order": "F KIE - DEN",
      "outcome": "succeeded"
     }
    ],
    "FRA": [
     {
      "order": "A PAR S F BRE - GAS",
      "outcome": "void",
      "reason": "void: the other unit was not ordered so"
     },
     {
      "order": "A PIE - TYR",
      "outcome": "succeeded"
     },
     {
      "order": "F BRE - PIC",
      "outcome": "succeeded"
     }
    ],
    "TUR": [
     {
      "order": "F ANK H",
      "outcome": "succeeded"
     },
     {
      "order": "A CON H",
      "outcome": "succeeded"
     },
     {
      "order": "A SMY H",
      "outcome": "succeeded"
     }
    ],
    "ENG": [
     {
      "order": "F EDI H",
      "outcome": "succeeded"
     },
     {
      "order": "F LON H",
      "outcome": "succeeded"
     },
     {
      "order": "A LVP H",
      "outcome": "succeeded"
     }
    ],
    "ITA": [
     {
      "order": "F NAP H",
      "outcome": "succeeded"
     },
     {
      "order": "A ROM H",
      "outcome": "succeeded"
     },
     {
      "order": "A VEN H",
      "outcome": "succeeded"
     }
    ]
   }
  }
 ],
 "final": {
  "phase": "W1901A",
  "units": {
   "FRA": [
    "A TYR",
    "A PAR",
    "F PIC"
   ],
   "AUS": [
    "A BUD",
    "A VIE",
    "F TRI"
   ],
   "RUS": [
    "A MOS",
    "A WAR",
    "F SEV",
    "F STP/SC"
   ],
   "GER": [
    "A MUN",
    "A BER",
    "F DEN"
   ],
   "TUR": [
    "F ANK",
    "A CON",
    "A SMY"
   ],
   "ENG": [
    "F EDI",
    "F LON",
    "A LVP"
   ],
   "ITA": [
    "F NAP",
    "A ROM",
    "A VEN"
   ]
  },
  "centres": {
   "AUS": [
    "BUD",
    "VIE",
    "TRI"
   ],
   "RUS": [
    "MOS",
    "WAR",
    "SEV",
    "STP"
   ],
   "GER": [
    "MUN",
    "BER",
    "DEN",
    "KIE"
   ],
   "FRA": [
    "PAR",
    "BRE",
    "MAR"
   ],
   "TUR": [
    "ANK",
    "CON",
    "SMY"
   ],
   "ENG": [
    "EDI",
    "LON",
    "LVP"
   ],
   "ITA": [
    "NAP",
    "ROM",
    "VEN"
   ]
  }
 },
 "result": "draw 1901: AUS ENG FRA GER ITA RUS TUR",
 "remarks": [
  "Event: spring",
  "Game id: t1_0",
  "Date: 2026-11-21 12:36 +0000",
  "Result: draw 1901: AUS ENG FRA GER ITA RUS TUR (year limit; centres AUS 3 ENG 3 FRA 3 GER 4 ITA 3 RUS 4 TUR 3)",
  "hold#1 cpu time: 0.00 s",
  "hold#2 cpu time: 0.00 s",
  "random#3 cpu time: 0.00 s",
  "random#4 cpu time: 0.00 s",
  "hold#5 cpu time: 0.00 s",
  "hold#6 cpu time: 0.00 s",
  "hold#7 cpu time: 0.00 s",
  "Austria: hold#1: hold",
  "England: hold#2: hold",
  "France: random#3: random_legal",
  "Germany: random#4: random_legal",
  "Italy: hold#5: hold",
  "Russia: hold#6: hold",
  "Turkey: hold#7: hold",
  "draw 1901: AUS ENG FRA GER ITA RUS TUR (year limit; centres AUS 3 ENG 3 FRA 3 GER 4 ITA 3 RUS 4 TUR 3)"
 ],
 "termination": "frozen",
 "detail": "year limit; centres AUS 3 ENG 3 FRA 3 GER 4 ITA 3 RUS 4 TUR 3",
 "winners": [
  "AUS",
  "ENG",
  "FRA",
  "GER",
  "ITA",
  "RUS",
  "TUR"
 ],
 "centre_shares": {
  "AUS": 0.13043478260869565,
  "ENG": 0.13043478260869565,
  "FRA": 0.13043478260869565,
  "GER": 0.17391304347826086,
  "ITA": 0.13043478260869565,
  "RUS": 0.17391304347826086,
  "TUR": 0.13043478260869565
 }
}
','json','','[[1,"A BUD H, A VIE H, F TRI H, DRAW",6.5e-05],[2,"F EDI H, F LON H, A LVP H, DRAW",3.4e-05],[3,"A PAR S F BRE, F BRE H, A MAR - PIE",0.000155],[4,"A MUN S A MAR - BUR, A BER S A WAR - PRU, F KIE S A BER",8.5e-05],[5,"F NAP H, A ROM H, A VEN H, DRAW",2.9e-05],[6,"A MOS H, A WAR H, F SEV H, F STP/SC H, DRAW",2e-05],[7,"F ANK H, A CON H, A SMY H, DRAW",1.7e-05],[1,"A BUD H, A VIE H, F TRI H, DRAW",7.8e-05],[2,"F EDI H, F LON H, A LVP H, DRAW",2e-05],[3,"A PAR S F BRE - GAS, A PIE - TYR, F BRE - PIC",9.1e-05],[4,"A MUN S A PIE - TYR, A BER S A MUN - KIE, F KIE - DEN",7.7e-05],[5,"F NAP H, A ROM H, A VEN H, DRAW",2e-05],[6,"A MOS H, A WAR H, F SEV H, F STP/SC H, DRAW",1.8e-05],[7,"F ANK H, A CON H, A SMY H, DRAW",1.5e-05]]');
INSERT INTO "ARENA_Game" VALUES(2,3,'t2_0','t2',1,5670156134524531066,'6b46f4896a1044299fdf0da52600e974/t2_0/1','draw 1: NOR SOU','agreed by all; centres NOR 2 SOU 2','agreement',0,'2026-11-21 12:37:39.087282','xb-ow------','{
 "format": "diplomacy-1",
 "game": "diplomacy",
 "name": "straits t2_0",
 "event": "straits",
 "date": "2026-11-21",
 "map": "straits",
 "edition": "2023",
 "choices": {
  "adjacent_convoy": "intent",
  "land_route_left": false,
  "unsaid_land_route_left": false,
  "removal_distance": "owned centres",
  "lenient_coasts": true
 },
 "stasis_limit": 0,
 "impasse_limit": 0,
 "year_limit": 1,
 "players": {
  "NOR": "hold",
  "SOU": "hold"
 },
 "seed": 5670156134524531066,
 "phases": [
  {
   "phase": "S1M",
   "units": {
    "NOR": [
     "A NCA",
     "F NPO"
    ],
    "SOU": [
     "A SCA",
     "F SPO"
    ]
   },
   "centres": {
    "NOR": [
     "NCA",
     "NPO"
    ],
    "SOU": [
     "SCA",
     "SPO"
    ]
   },
   "moves": {
    "NOR": "A NCA H, F NPO H, DRAW",
    "SOU": "A SCA H, F SPO H, DRAW"
   }
  }
 ],
 "final": {
  "phase": "S1M",
  "units": {
   "NOR": [
    "A NCA",
    "F NPO"
   ],
   "SOU": [
    "A SCA",
    "F SPO"
   ]
  },
  "centres": {
   "NOR": [
    "NCA",
    "NPO"
   ],
   "SOU": [
    "SCA",
    "SPO"
   ]
  }
 },
 "result": "draw 1: NOR SOU",
 "remarks": [
  "Event: straits",
  "Game id: t2_0",
  "Date: 2026-11-21 12:37 +0000",
  "Result: draw 1: NOR SOU (agreed by all; centres NOR 2 SOU 2)",
  "hold#1 cpu time: 0.00 s",
  "hold#2 cpu time: 0.00 s",
  "North: hold#1: hold",
  "South: hold#2: hold",
  "draw 1: NOR SOU (agreed by all; centres NOR 2 SOU 2)"
 ],
 "termination": "agreement",
 "detail": "agreed by all; centres NOR 2 SOU 2",
 "winners": [
  "NOR",
  "SOU"
 ],
 "centre_shares": {
  "NOR": 0.5,
  "SOU": 0.5
 }
}
','json','','[[1,"A NCA H, F NPO H, DRAW",6.1e-05],[2,"A SCA H, F SPO H, DRAW",8.2e-05]]');
INSERT INTO "ARENA_Game" VALUES(3,5,'AvB_0','AvB',1,6407215037444868227,'94df0f9edcb8411999e792c8a0bdcf18/AvB_0/1','B+R','','resignation',0,'2026-11-21 12:38:03.871287','-------------------------','(;FF[4]AP[academy-arena:0.1.0]
C[Event: duel
Game id: AvB_0
Date: 2026-11-21 12:38 +0000
Result: B+R
one cpu time: 2.00 s
two cpu time: 0.05 s
Black: one: GNU Go:3.8
White: two: GNU Go:3.8]
CA[UTF-8]DT[2026-11-21]EV[duel]GM[1]GN[duel AvB_0]KM[0.5]PB[GNU Go:3.8]
PW[GNU Go:3.8]RE[B+R]SZ[5];B[cc];W[dc];B[dd];W[cd];B[bd];W[ed];B[ce];W[de];
B[cd]C[B+R])
','sgf','','[[1,"C3",0.000275],[2,"D3",0.000873],[1,"D2",0.701196],[2,"C2",0.035726],[1,"B2",4.767687],[2,"E2",0.123718],[1,"C1",1.415137],[2,"D1",0.018574],[1,"C2",1.185798]]');
CREATE TABLE "ARENA_Inhibition" (
	"ContestantId" INTEGER NOT NULL, 
	"VariantId" INTEGER NOT NULL, 
	PRIMARY KEY ("ContestantId", "VariantId"), 
	FOREIGN KEY("ContestantId") REFERENCES "SAGA_Contestant" ("ContestantId"), 
	FOREIGN KEY("VariantId") REFERENCES "SAGA_Variant" ("VariantId")
);
CREATE TABLE "ARENA_Meta" (
	"Key" TEXT NOT NULL, 
	"Value" TEXT NOT NULL, 
	PRIMARY KEY ("Key")
);
INSERT INTO "ARENA_Meta" VALUES('schema_version','4');
CREATE TABLE "ARENA_Outbox" (
	"OutboxId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"SeriesId" INTEGER NOT NULL, 
	"ContestId" TEXT NOT NULL, 
	"Report" BLOB, 
	"State" TEXT NOT NULL, 
	"Attempts" INTEGER NOT NULL, 
	"LastError" TEXT NOT NULL, 
	"Changed" DATETIME NOT NULL, 
	CONSTRAINT "State_known" CHECK ("State" IN ('waiting', 'acknowledged', 'refused')), 
	CONSTRAINT acknowledged_is_gone CHECK (("State" = 'acknowledged') = ("Report" IS NULL)), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	UNIQUE ("ContestId")
);
CREATE TABLE "ARENA_Rating" (
	"GameId" INTEGER NOT NULL, 
	"Seat" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"EloBefore" FLOAT NOT NULL, 
	"EloAfter" FLOAT NOT NULL, 
	PRIMARY KEY ("GameId", "Seat"), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId")
);
INSERT INTO "ARENA_Rating" VALUES(1,1,'hold',1000.0,1000.0);
INSERT INTO "ARENA_Rating" VALUES(1,2,'hold',1000.0,1000.0);
INSERT INTO "ARENA_Rating" VALUES(1,3,'random',1000.0,1000.0);
INSERT INTO "ARENA_Rating" VALUES(1,4,'random',1000.0,1000.0);
INSERT INTO "ARENA_Rating" VALUES(1,5,'hold',1000.0,1000.0);
INSERT INTO "ARENA_Rating" VALUES(1,6,'hold',1000.0,1000.0);
INSERT INTO "ARENA_Rating" VALUES(1,7,'hold',1000.0,1000.0);
INSERT INTO "ARENA_Rating" VALUES(2,1,'hold',1000.0,1000.0);
INSERT INTO "ARENA_Rating" VALUES(2,2,'hold',1000.0,1000.0);
INSERT INTO "ARENA_Rating" VALUES(3,1,'one',1000.0,1015.0);
INSERT INTO "ARENA_Rating" VALUES(3,2,'two',1000.0,985.0);
CREATE TABLE "ARENA_Seat" (
	"GameId" INTEGER NOT NULL, 
	"Seat" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Fault" TEXT NOT NULL, 
	"Remark" TEXT NOT NULL, 
	"WallSeconds" FLOAT NOT NULL, 
	"PeakMemoryBytes" BIGINT, 
	"EngineName" TEXT NOT NULL, 
	"EngineDescription" TEXT NOT NULL, 
	PRIMARY KEY ("GameId", "Seat"), 
	CONSTRAINT "Seat_from_1" CHECK ("Seat" >= 1), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId")
);
INSERT INTO "ARENA_Seat" VALUES(1,1,'hold','none','',1.42900993523653596639e-04,NULL,'hold','hold');
INSERT INTO "ARENA_Seat" VALUES(1,2,'hold','none','',5.4739000916015356779e-05,NULL,'hold','hold');
INSERT INTO "ARENA_Seat" VALUES(1,3,'random','none','',2.46113995672203600406e-04,NULL,'random_legal','random_legal');
INSERT INTO "ARENA_Seat" VALUES(1,4,'random','none','',1.61630996444728225469e-04,NULL,'random_legal','random_legal');
INSERT INTO "ARENA_Seat" VALUES(1,5,'hold','none','',4.84310003230348229408e-05,NULL,'hold','hold');
INSERT INTO "ARENA_Seat" VALUES(1,6,'hold','none','',3.86319952667690813541e-05,NULL,'hold','hold');
INSERT INTO "ARENA_Seat" VALUES(1,7,'hold','none','',3.27950037899427115917e-05,NULL,'hold','hold');
INSERT INTO "ARENA_Seat" VALUES(2,1,'hold','none','',6.09440030530095100402e-05,NULL,'hold','hold');
INSERT INTO "ARENA_Seat" VALUES(2,2,'hold','none','',8.16140018287114799022e-05,NULL,'hold','hold');
INSERT INTO "ARENA_Seat" VALUES(3,1,'one','none','',8.0700931330065941438e+00,24051712,'GNU Go:3.8','GNU Go:3.8');
INSERT INTO "ARENA_Seat" VALUES(3,2,'two','none','',2.05648246010241564363e-01,22278144,'GNU Go:3.8','GNU Go:3.8');
CREATE TABLE "ARENA_Series" (
	"SeriesId" INTEGER NOT NULL, 
	"MissionId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	PRIMARY KEY ("SeriesId"), 
	CONSTRAINT series_once UNIQUE ("MissionId", "Name"), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	FOREIGN KEY("MissionId") REFERENCES "SAGA_Series" ("SeriesId")
);
INSERT INTO "ARENA_Series" VALUES(2,1,'t1');
INSERT INTO "ARENA_Series" VALUES(4,3,'t2');
CREATE TABLE "ARENA_Void" (
	"SeriesId" INTEGER NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Attempt" INTEGER NOT NULL, 
	"Cause" TEXT NOT NULL, 
	"Reason" TEXT NOT NULL, 
	"Seconds" FLOAT NOT NULL, 
	"Ended" DATETIME NOT NULL, 
	PRIMARY KEY ("SeriesId", "Name", "Attempt"), 
	FOREIGN KEY("SeriesId", "Name", "Attempt") REFERENCES "ARENA_Attempt" ("SeriesId", "Name", "Attempt"), 
	CONSTRAINT "Cause_known" CHECK ("Cause" IN ('void', 'interrupted')), 
	CONSTRAINT "Void_seconds_not_negative" CHECK ("Seconds" >= 0), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId")
);
CREATE TABLE "SAGA_Client" (
	"ClientId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Family" TEXT NOT NULL, 
	"Release" TEXT NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Version" TEXT NOT NULL, 
	"Command" TEXT NOT NULL, 
	"WorkingDir" TEXT NOT NULL, 
	"Lazy" BOOLEAN NOT NULL, 
	"Superseded" BOOLEAN NOT NULL, 
	"Obsolete" BOOLEAN NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Client_named" CHECK ("Family" <> '' AND "Command" <> '')
);
INSERT INTO "SAGA_Client" VALUES(1,'hold','','hold','','clients.bots.diplomacy.in_process:hold','',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(2,'random','','random_legal','','clients.bots.diplomacy.in_process:random_legal','',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(3,'one','','GNU Go','3.8','gnugo --mode gtp','',0,0,0,'');
INSERT INTO "SAGA_Client" VALUES(4,'two','','GNU Go','3.8','gnugo --mode gtp --level 1','',0,0,0,'');
CREATE TABLE "SAGA_ClientVariant" (
	"ClientId" INTEGER NOT NULL, 
	"VariantId" INTEGER NOT NULL, 
	"AutoInhibit" BOOLEAN NOT NULL, 
	PRIMARY KEY ("ClientId", "VariantId"), 
	FOREIGN KEY("ClientId") REFERENCES "SAGA_Client" ("ClientId"), 
	FOREIGN KEY("VariantId") REFERENCES "SAGA_Variant" ("VariantId")
);
CREATE TABLE "SAGA_Contestant" (
	"ContestantId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"ClientId" INTEGER NOT NULL, 
	"Personality" TEXT NOT NULL, 
	"Options" TEXT NOT NULL, 
	"PlatformId" INTEGER, 
	"FinishTime" INTEGER, 
	"Throttle" FLOAT, 
	"Superseded" BOOLEAN NOT NULL, 
	"Obsolete" BOOLEAN NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "FinishTime_not_negative" CHECK ("FinishTime" >= 0), 
	FOREIGN KEY("ClientId") REFERENCES "SAGA_Client" ("ClientId"), 
	FOREIGN KEY("PlatformId") REFERENCES "SAGA_Platform" ("PlatformId")
);
INSERT INTO "SAGA_Contestant" VALUES(1,1,'','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(2,2,'','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(3,1,'','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(4,3,'','',NULL,5000,NULL,0,0,'');
INSERT INTO "SAGA_Contestant" VALUES(5,4,'','',NULL,5000,NULL,0,0,'');
CREATE TABLE "SAGA_Game" (
	"GameId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"SeriesId" INTEGER NOT NULL, 
	"SettingId" INTEGER NOT NULL, 
	"Finished" DATETIME NOT NULL, 
	"SetupTime" FLOAT NOT NULL, 
	"PlayTime" FLOAT NOT NULL, 
	"TotalTime" FLOAT NOT NULL, 
	"Termination" INTEGER, 
	"Years" INTEGER NOT NULL, 
	"Survivors" INTEGER, 
	"Leaders" INTEGER, 
	"Winners" INTEGER NOT NULL, 
	"MaxSupplies" FLOAT, 
	CONSTRAINT "Termination_1_to_6" CHECK ("Termination" BETWEEN 1 AND 6), 
	CONSTRAINT "TotalTime_holds_all" CHECK ("TotalTime" >= "SetupTime" + "PlayTime" - 0.000001), 
	CONSTRAINT known_result_has_winners CHECK (("Termination" IS NULL) = ("Winners" = 0)), 
	CONSTRAINT solo_has_one_winner CHECK ("Termination" <> 1 OR "Winners" = 1), 
	CONSTRAINT "SetupTime_not_negative" CHECK ("SetupTime" >= 0), 
	CONSTRAINT "PlayTime_not_negative" CHECK ("PlayTime" >= 0), 
	CONSTRAINT "Years_not_negative" CHECK ("Years" >= 0), 
	CONSTRAINT "Survivors_not_negative" CHECK ("Survivors" >= 0), 
	CONSTRAINT "Winners_not_negative" CHECK ("Winners" >= 0), 
	CONSTRAINT "Leaders_at_least_1" CHECK ("Leaders" >= 1), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	FOREIGN KEY("SettingId") REFERENCES "SAGA_Setting" ("SettingId")
);
INSERT INTO "SAGA_Game" VALUES(1,2,1,'2026-11-21 12:36:51.768993',0.0639917090011295,5.68928580032661557197e-02,1.20884567004395648837e-01,6,1,7,2,7,4.0);
INSERT INTO "SAGA_Game" VALUES(2,4,2,'2026-11-21 12:37:39.115784',2.77156290030688978731e-02,7.86834993050433695316e-04,2.85024639961193315684e-02,3,1,2,2,2,2.0);
INSERT INTO "SAGA_Game" VALUES(3,5,3,'2026-11-21 12:38:12.186782',3.25816389959072694182e-02,8.2829133440027362667e+00,8.31549498299864353612e+00,1,5,2,NULL,1,NULL);
CREATE TABLE "SAGA_Platform" (
	"PlatformId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Name" TEXT NOT NULL, 
	"Fraction" FLOAT, 
	"Quality" INTEGER, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Platform_once" UNIQUE ("Name", "Fraction", "Quality"), 
	CONSTRAINT "Fraction_is_a_share" CHECK ("Fraction" BETWEEN 0 AND 1), 
	CONSTRAINT "Quality_1_to_3" CHECK ("Quality" IN (1, 2, 3))
);
INSERT INTO "SAGA_Platform" VALUES(1,'a machine',1.0,1,'');
CREATE TABLE "SAGA_Player" (
	"GameId" INTEGER NOT NULL, 
	"PowerId" INTEGER NOT NULL, 
	"ContestantId" INTEGER NOT NULL, 
	"Supplies" FLOAT, 
	"Elimination" INTEGER, 
	"Disorder" INTEGER, 
	"Problem" INTEGER, 
	"Winner" INTEGER NOT NULL, 
	"Grade" FLOAT, 
	"Rank" INTEGER, 
	"Cpu" FLOAT, 
	PRIMARY KEY ("GameId", "PowerId"), 
	CONSTRAINT "Problem_0_to_2" CHECK ("Problem" IN (0, 1, 2)), 
	CONSTRAINT "Winner_is_a_truth" CHECK ("Winner" IN (0, 1)), 
	CONSTRAINT "Rank_from_1" CHECK ("Rank" >= 1), 
	CONSTRAINT "Disorder_has_a_Problem" CHECK ("Disorder" IS NULL OR COALESCE("Problem", 0) > 0), 
	CONSTRAINT "Elimination_not_negative" CHECK ("Elimination" >= 0), 
	CONSTRAINT "Disorder_not_negative" CHECK ("Disorder" >= 0), 
	CONSTRAINT "Cpu_not_negative" CHECK ("Cpu" >= 0), 
	FOREIGN KEY("GameId") REFERENCES "SAGA_Game" ("GameId"), 
	FOREIGN KEY("PowerId") REFERENCES "SAGA_Power" ("PowerId"), 
	FOREIGN KEY("ContestantId") REFERENCES "SAGA_Contestant" ("ContestantId")
);
INSERT INTO "SAGA_Player" VALUES(1,1,1,3.0,NULL,NULL,0,1,3.0,3,1.40615000000010592628e-04);
INSERT INTO "SAGA_Player" VALUES(1,2,1,3.0,NULL,NULL,0,1,3.0,3,5.44939999999882740411e-05);
INSERT INTO "SAGA_Player" VALUES(1,3,2,3.0,NULL,NULL,0,1,3.0,3,2.45517000000000651382e-04);
INSERT INTO "SAGA_Player" VALUES(1,4,2,4.0,NULL,NULL,0,1,4.0,1,1.61805000000042609187e-04);
INSERT INTO "SAGA_Player" VALUES(1,5,1,3.0,NULL,NULL,0,1,3.0,3,4.87020000000115693694e-05);
INSERT INTO "SAGA_Player" VALUES(1,6,1,4.0,NULL,NULL,0,1,4.0,1,3.88820000000178467303e-05);
INSERT INTO "SAGA_Player" VALUES(1,7,1,3.0,NULL,NULL,0,1,3.0,3,3.3094999999983e-05);
INSERT INTO "SAGA_Player" VALUES(2,8,3,2.0,NULL,NULL,0,1,2.0,1,5.88270000000112869287e-05);
INSERT INTO "SAGA_Player" VALUES(2,9,3,2.0,NULL,NULL,0,1,2.0,1,8.19059999999927068614e-05);
INSERT INTO "SAGA_Player" VALUES(3,10,4,NULL,NULL,NULL,0,1,NULL,1,2.001414);
INSERT INTO "SAGA_Player" VALUES(3,11,5,NULL,NULL,NULL,0,0,NULL,2,4.5233999999999996433e-02);
CREATE TABLE "SAGA_Power" (
	"PowerId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"VariantId" INTEGER NOT NULL, 
	"Code" TEXT NOT NULL, 
	"Name" TEXT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Power_once" UNIQUE ("VariantId", "Code"), 
	FOREIGN KEY("VariantId") REFERENCES "SAGA_Variant" ("VariantId")
);
INSERT INTO "SAGA_Power" VALUES(1,1,'1','Austria','');
INSERT INTO "SAGA_Power" VALUES(2,1,'2','England','');
INSERT INTO "SAGA_Power" VALUES(3,1,'3','France','');
INSERT INTO "SAGA_Power" VALUES(4,1,'4','Germany','');
INSERT INTO "SAGA_Power" VALUES(5,1,'5','Italy','');
INSERT INTO "SAGA_Power" VALUES(6,1,'6','Russia','');
INSERT INTO "SAGA_Power" VALUES(7,1,'7','Turkey','');
INSERT INTO "SAGA_Power" VALUES(8,2,'1','North','');
INSERT INTO "SAGA_Power" VALUES(9,2,'2','South','');
INSERT INTO "SAGA_Power" VALUES(10,3,'1','Black','');
INSERT INTO "SAGA_Power" VALUES(11,3,'2','White','');
CREATE TABLE "SAGA_Series" (
	"SeriesId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Name" TEXT NOT NULL, 
	"State" INTEGER NOT NULL, 
	"Weight" FLOAT NOT NULL, 
	"Pure" BOOLEAN NOT NULL, 
	"GameLim" INTEGER, 
	"Selector" TEXT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "State_not_negative" CHECK ("State" >= 0), 
	CONSTRAINT "Weight_not_negative" CHECK ("Weight" >= 0), 
	CONSTRAINT "GameLim_not_negative" CHECK ("GameLim" >= 0), 
	UNIQUE ("Name")
);
INSERT INTO "SAGA_Series" VALUES(1,'spring',2,1.0,1,1,'mars t1: least-played clones=yes contestants=hold*1,random*1 settings=0*1','');
INSERT INTO "SAGA_Series" VALUES(2,'spring/t1',2,1.0,1,1,'least-played clones=yes contestants=hold*1,random*1 settings=0*1','');
INSERT INTO "SAGA_Series" VALUES(3,'straits',2,1.0,1,1,'mars t2: least-played clones=yes contestants=hold*1 settings=0*1','');
INSERT INTO "SAGA_Series" VALUES(4,'straits/t2',2,1.0,1,1,'least-played clones=yes contestants=hold*1 settings=0*1','');
INSERT INTO "SAGA_Series" VALUES(5,'duel',2,1.0,1,1,'all-play-all rounds=1 competitors=one,two','');
CREATE TABLE "SAGA_SeriesContestant" (
	"SeriesId" INTEGER NOT NULL, 
	"ContestantId" INTEGER NOT NULL, 
	"Weight" FLOAT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	PRIMARY KEY ("SeriesId", "ContestantId"), 
	CONSTRAINT contestant_weight_not_negative CHECK ("Weight" >= 0), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	FOREIGN KEY("ContestantId") REFERENCES "SAGA_Contestant" ("ContestantId")
);
INSERT INTO "SAGA_SeriesContestant" VALUES(1,1,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(1,2,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(2,1,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(2,2,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(3,3,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(4,3,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(5,4,1.0,'');
INSERT INTO "SAGA_SeriesContestant" VALUES(5,5,1.0,'');
CREATE TABLE "SAGA_SeriesSetting" (
	"SeriesId" INTEGER NOT NULL, 
	"SettingId" INTEGER NOT NULL, 
	"Weight" FLOAT NOT NULL, 
	"Notes" TEXT NOT NULL, 
	PRIMARY KEY ("SeriesId", "SettingId"), 
	CONSTRAINT setting_weight_not_negative CHECK ("Weight" >= 0), 
	FOREIGN KEY("SeriesId") REFERENCES "SAGA_Series" ("SeriesId"), 
	FOREIGN KEY("SettingId") REFERENCES "SAGA_Setting" ("SettingId")
);
INSERT INTO "SAGA_SeriesSetting" VALUES(2,1,1.0,'');
INSERT INTO "SAGA_SeriesSetting" VALUES(4,2,1.0,'');
INSERT INTO "SAGA_SeriesSetting" VALUES(5,3,1.0,'');
CREATE TABLE "SAGA_Setting" (
	"SettingId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"PlatformId" INTEGER, 
	"VariantId" INTEGER NOT NULL, 
	"Obsolete" BOOLEAN NOT NULL, 
	"Level" INTEGER, 
	"SL" INTEGER, 
	"IL" INTEGER, 
	"PTL" INTEGER, 
	"MTL" INTEGER, 
	"RTL" INTEGER, 
	"BTL" INTEGER, 
	"AOA" BOOLEAN, 
	"PDA" BOOLEAN, 
	"NPR" BOOLEAN, 
	"NPB" BOOLEAN, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Level_not_negative" CHECK ("Level" >= 0), 
	CONSTRAINT "SL_not_negative" CHECK ("SL" >= 0), 
	CONSTRAINT "IL_not_negative" CHECK ("IL" >= 0), 
	CONSTRAINT "PTL_not_negative" CHECK ("PTL" >= 0), 
	CONSTRAINT "MTL_not_negative" CHECK ("MTL" >= 0), 
	CONSTRAINT "RTL_not_negative" CHECK ("RTL" >= 0), 
	CONSTRAINT "BTL_not_negative" CHECK ("BTL" >= 0), 
	FOREIGN KEY("PlatformId") REFERENCES "SAGA_Platform" ("PlatformId"), 
	FOREIGN KEY("VariantId") REFERENCES "SAGA_Variant" ("VariantId")
);
INSERT INTO "SAGA_Setting" VALUES(1,1,1,0,0,NULL,NULL,NULL,60,60,60,1,0,0,0,'{"game": "diplomacy", "move_limit": 1000, "scorer": "internal", "settings": {"year_limit": 1}}');
INSERT INTO "SAGA_Setting" VALUES(2,1,2,0,0,NULL,NULL,NULL,60,60,60,1,0,0,0,'{"game": "diplomacy", "move_limit": 1000, "scorer": "internal", "settings": {"map": "straits", "year_limit": 1}}');
INSERT INTO "SAGA_Setting" VALUES(3,1,3,0,0,NULL,NULL,NULL,60,NULL,NULL,NULL,NULL,NULL,NULL,'{"game": "go", "move_limit": 1000, "scorer": "internal", "settings": {"board_size": 5, "komi": 0.5}}');
CREATE TABLE "SAGA_Variant" (
	"VariantId" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"Name" TEXT NOT NULL, 
	"Powers" INTEGER NOT NULL, 
	"Supplies" FLOAT, 
	"FirstYear" INTEGER, 
	"FirstSeason" TEXT, 
	"Notes" TEXT NOT NULL, 
	CONSTRAINT "Powers_at_least_1" CHECK ("Powers" >= 1), 
	UNIQUE ("Name")
);
INSERT INTO "SAGA_Variant" VALUES(1,'diplomacy-standard',7,34.0,1901,'SPR','');
INSERT INTO "SAGA_Variant" VALUES(2,'diplomacy-straits',2,6.0,1,'SPR','');
INSERT INTO "SAGA_Variant" VALUES(3,'go-5x5',2,NULL,NULL,NULL,'');
CREATE VIEW "ARENA_Score" AS 
SELECT p."GameId", p."PowerId",
  CASE WHEN g."Winners" = 0 THEN 0.0
       WHEN p."Winner" = 1 THEN 1.0 * v."Powers" / g."Winners" - 1.0
       ELSE -1.0 END AS "Score"
FROM "SAGA_Player" p
JOIN "SAGA_Game" g ON g."GameId" = p."GameId"
JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId";
CREATE VIEW "Dip_Bot" AS 
SELECT c."ContestantId" AS "Id",
  l."Family" || CASE WHEN l."Release" = '' THEN '' ELSE ' ' || l."Release" END
    || CASE WHEN c."Personality" = '' THEN '' ELSE '~' || c."Personality" END AS "Name",
  CASE WHEN l."Name" = '' THEN l."Family" ELSE l."Name" END
    || CASE WHEN l."Version" = '' THEN '' ELSE ' ' || l."Version" END AS "Title"
FROM "SAGA_Contestant" c
JOIN "SAGA_Client" l ON l."ClientId" = c."ClientId";
CREATE VIEW "Dip_Game" AS 
SELECT g."GameId" AS "Id", e."Name" AS "Tournament", g."Finished", g."SetupTime", g."PlayTime", g."TotalTime",
  g."Years", g."Survivors", g."Leaders", g."Winners", COALESCE(v."Supplies", 1) AS "MaxSC",
  s."VariantId" AS "Variant", s."Level", s."SL" AS "Kill", s."PTL", s."MTL", s."RTL", s."BTL",
  s."AOA", s."NPR", s."NPB"
FROM "SAGA_Game" g
JOIN "SAGA_Series" e ON e."SeriesId" = g."SeriesId"
JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId";
CREATE VIEW "Dip_Player" AS 
WITH RECURSIVE play AS (
  SELECT g."SeriesId" AS series, p."ContestantId" AS bot, p."GameId" AS game, p."PowerId" AS power,
    CASE WHEN v."Supplies" IS NULL THEN p."Winner" ELSE p."Supplies" END AS sc,
    CASE WHEN p."Elimination" IS NOT NULL THEN p."Elimination"
         WHEN v."Supplies" IS NULL AND p."Winner" = 0 AND g."Winners" > 0 THEN g."Years" END AS years,
    p."Winner" AS won,
    CASE WHEN g."MaxSupplies" IS NULL THEN p."Winner"
         WHEN p."Supplies" = g."MaxSupplies" THEN 1 ELSE 0 END AS led,
    CASE WHEN g."MaxSupplies" IS NULL THEN p."Winner"
         WHEN p."Supplies" > 0 THEN 1 ELSE 0 END AS survived,
    CASE WHEN g."Winners" = 0 THEN 0 ELSE 1 END AS decided,
    ROW_NUMBER() OVER (PARTITION BY g."SeriesId", p."ContestantId" ORDER BY p."GameId", p."PowerId") AS number
  FROM "SAGA_Player" p
  JOIN "SAGA_Game" g ON g."GameId" = p."GameId"
  JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
  JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId"
), taken AS MATERIALIZED (
  SELECT series, bot, game, power, sc, years, number, decided,
    1.0 * led * COUNT(*) OVER pot / NULLIF(SUM(led) OVER pot, 0) AS leader,
    1.0 * survived * COUNT(*) OVER pot / NULLIF(SUM(survived) OVER pot, 0) AS survivor,
    1.0 * won * COUNT(*) OVER pot / NULLIF(SUM(won) OVER pot, 0) AS winner
  FROM play WINDOW pot AS (PARTITION BY game)
), averages AS (
  SELECT series, bot, CAST(0 AS BIGINT) AS number, CAST(1.0 AS DOUBLE PRECISION) AS strength,
    CAST(1.0 AS DOUBLE PRECISION) AS tenacity, CAST(1.0 AS DOUBLE PRECISION) AS fitness
  FROM taken WHERE number = 1
  UNION ALL
  SELECT a.series, a.bot, t.number,
    CASE WHEN t.decided = 0 THEN a.strength ELSE 0.9 * a.strength + 0.1 * t.leader END,
    CASE WHEN t.decided = 0 THEN a.tenacity ELSE 0.9 * a.tenacity + 0.1 * t.survivor END,
    CASE WHEN t.decided = 0 THEN a.fitness ELSE 0.9 * a.fitness + 0.1 * t.winner END
  FROM averages a JOIN taken t ON t.series = a.series AND t.bot = a.bot AND t.number = a.number + 1
)
SELECT t.game AS "Game", t.power AS "Power", t.bot AS "Bot", t.sc AS "SC", t.years AS "Years",
  a.strength AS "Strength", a.tenacity AS "Tenacity", a.fitness AS "Fitness"
FROM taken t
JOIN averages a ON a.series = t.series AND a.bot = t.bot AND a.number = t.number;
CREATE VIEW "Dip_Power" AS 
SELECT "PowerId" AS "Id", "VariantId" AS "Variant", "Code" FROM "SAGA_Power";
CREATE VIEW "Dip_Variant" AS 
SELECT "VariantId" AS "Id", "Name", "Powers", "Supplies" AS "SC", "FirstYear" AS "Year0",
  "FirstSeason" AS "Season0"
FROM "SAGA_Variant";
CREATE VIEW "ARENA_Move" AS 
SELECT g."GameId", m.key + 1 AS "Ply",
  json_extract(m.value, '$[0]') AS "Seat",
  json_extract(m.value, '$[1]') AS "Text",
  json_extract(m.value, '$[2]') AS "Seconds",
  json_extract(m.value, '$[8]') AS "LegalMoves",
  json_extract(m.value, '$[9]') AS "Interaction",
  json_extract(m.value, '$[10]') AS "Board",
  COALESCE(json_extract(m.value, '$[4]'), '') AS "Comment",
  json_extract(m.value, '$[6]') AS "ClockSeconds",
  json_extract(m.value, '$[7]') AS "ClockStones",
  COALESCE(json_extract(m.value, '$[5]'), 0) AS "Opening"
FROM "ARENA_Game" g, json_each(g."Moves") m;
CREATE VIEW "ARENA_MoveValue" AS 
SELECT g."GameId", m.key + 1 AS "Ply", CAST(v.key AS INTEGER) AS "Seat", v.value AS "Value"
FROM "ARENA_Game" g, json_each(g."Moves") m, json_each(m.value, '$[3]') v
WHERE v.type <> 'null';
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('SAGA_Series',5);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Platform',1);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Client',4);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Contestant',5);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Variant',3);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Power',11);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Setting',3);
INSERT INTO "sqlite_sequence" VALUES('SAGA_Game',3);
COMMIT;
